//! One function for many items.

/// With fewer items for each, a thread costs more than it saves.
const ITEMS_OF_A_THREAD: usize = 32;

/// Does `work` for all items, on several threads where there are many. Results are in the order of the items.
pub(crate) fn map<'t, T: Sync, R: Send>(
    items: &'t [T],
    work: impl Fn(&'t T) -> R + Sync,
) -> Vec<R> {
    let wanted = items.len() / ITEMS_OF_A_THREAD;
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
            assert_eq!(super::map(&items, |i| 2 * i), doubled);
        }
    }
}
