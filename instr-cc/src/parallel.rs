//! One function for many items.

/// With fewer files for each, a thread costs more than it saves.
pub(crate) const FILES_OF_A_THREAD: usize = 32;

/// Does `work` for all items, on as many threads as there are processors, where each has at least `least` of them. Results are in the order of the items.
pub fn map<'t, T: Sync, R: Send>(
    items: &'t [T],
    least: usize,
    work: impl Fn(&'t T) -> R + Sync,
) -> Vec<R> {
    let wanted = items.len() / least.max(1);
    if wanted < 2 {
        return items.iter().map(work).collect();
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let each = items.len().div_ceil(threads.min(wanted));
    let work = &work;
    std::thread::scope(|scope| {
        let parts = items.chunks(each);
        let parts =
            parts.map(|part| scope.spawn(move || part.iter().map(work).collect::<Vec<R>>()));
        // All are started before the first is waited for.
        let parts: Vec<_> = parts.collect();
        let joined = parts.into_iter().flat_map(|part| match part.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_keep_the_order() {
        for count in [0, 1, 63, 64, 65, 1000] {
            let items: Vec<usize> = (0..count).collect();
            let doubled: Vec<usize> = items.iter().map(|i| 2 * i).collect();
            for least in [0, 1, 32] {
                assert_eq!(super::map(&items, least, |i| 2 * i), doubled);
            }
        }
    }
}
