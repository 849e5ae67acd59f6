//! Writes a file on a thread of its own, so that the system's work of writing overlaps with ours.

use std::fs::File;
use std::io::{Result, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Bytes handed over at a time.
const BLOCK: usize = 1 << 20;
/// Blocks on their way at most.
const BLOCKS: usize = 8;

/// A buffered writer whose blocks another thread writes. Errors show at the next block or at [`Background::finish`].
pub(super) struct Background {
    block: Vec<u8>,
    full: Option<SyncSender<Vec<u8>>>,
    empty: Receiver<Vec<u8>>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Background {
    pub(super) fn new(mut file: File) -> Self {
        let (full, to_write) = sync_channel::<Vec<u8>>(BLOCKS);
        let (written, empty) = sync_channel(BLOCKS + 2);
        let thread = std::thread::spawn(move || {
            for mut block in to_write {
                file.write_all(&block)?;
                block.clear();
                // Nobody may want it any more.
                let _ = written.try_send(block);
            }
            file.flush()
        });
        Self {
            block: Vec::with_capacity(BLOCK),
            full: Some(full),
            empty,
            thread: Some(thread),
        }
    }

    fn send(&mut self) -> Result<()> {
        let next = self
            .empty
            .try_recv()
            .unwrap_or_else(|_| Vec::with_capacity(BLOCK));
        let block = std::mem::replace(&mut self.block, next);
        match &self.full {
            Some(full) if full.send(block).is_ok() => Ok(()),
            _ => self.join(),
        }
    }

    /// Waits until all is written.
    pub(super) fn finish(mut self) -> Result<()> {
        self.send()?;
        self.join()
    }

    fn join(&mut self) -> Result<()> {
        self.full = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            _ => Err(std::io::Error::other("the writing thread is gone")),
        }
    }
}

impl Write for Background {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.block.len() >= BLOCK {
            self.send()?;
        }
        let taken = bytes.len().min(BLOCK - self.block.len());
        self.block.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    /// Only [`Background::finish`] reaches the file.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if self.thread.is_some() {
            let _ = self.join();
        }
    }
}
