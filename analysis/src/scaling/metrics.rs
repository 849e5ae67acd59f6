//! Numbers of a scaling study, by their textbook definitions.

/// S(p) = T(1) / T(p).
pub fn speedup(one: f64, time: f64) -> f64 {
    one / time
}

/// E(p) = S(p) / p, where the reference ran on `reference` threads: T(r) r / (T(p) p).
pub fn efficiency(reference: (f64, f64), threads: f64, time: f64) -> f64 {
    reference.1 * reference.0 / (time * threads)
}

/// What is missing to the ideal speedup: p − S(p).
pub fn speedup_loss(threads: f64, speedup: f64) -> f64 {
    threads - speedup
}

/// The serial fraction that was measured, (1/S − 1/p) / (1 − 1/p) (Karp & Flatt, "Measuring parallel processor performance", CACM 1990). It grows with p where overhead does; below 0 the speedup is more than
/// ideal. [`None`] for one thread.
pub fn karp_flatt(threads: f64, speedup: f64) -> Option<f64> {
    (threads > 1.0).then(|| (1.0 / speedup - 1.0 / threads) / (1.0 - 1.0 / threads))
}

/// Energy times the delay to the power `weight`: 1 for EDP, 2 for ED²P (Gonzalez & Horowitz 1996).
pub fn energy_delay(joules: f64, seconds: f64, weight: i32) -> f64 {
    joules * seconds.powi(weight)
}

/// Positions of the points that no other one beats: none has less of both numbers, or less of one and as much of the other. In order of the first number.
pub fn pareto(points: &[(f64, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| {
        points[*a]
            .0
            .total_cmp(&points[*b].0)
            .then(points[*a].1.total_cmp(&points[*b].1))
    });
    let mut front: Vec<usize> = Vec::new();
    for at in order {
        let beaten = front.last().is_some_and(|last| {
            points[*last].1 < points[at].1
                || points[*last].1 == points[at].1 && points[*last].0 < points[at].0
        });
        if !beaten {
            front.push(at);
        }
    }
    front
}

/// Inputs whose work grows with the threads: for each number of threads after the first, the input whose time on the fewest threads is nearest to that many times the time of the first input there.
///
/// `on_fewest`: time of each input on the fewest threads, in the order of the inputs. Returns, for each of `counts`, the position of the input and how far its work is from the wanted one, as a ratio; nothing
/// where the ratio is off by more than a quarter. The fewest threads have the first input.
pub fn weak_inputs(counts: &[f64], on_fewest: &[f64]) -> Vec<Option<(usize, f64)>> {
    let (Some(fewest), Some(first)) = (counts.first(), on_fewest.first()) else {
        return vec![None; counts.len()];
    };
    let nearest = |count: &f64| {
        let wanted = first * count / fewest;
        let distance = |time: f64| (time / wanted).ln().abs();
        let found = on_fewest
            .iter()
            .enumerate()
            .min_by(|a, b| distance(*a.1).total_cmp(&distance(*b.1)))?;
        let ratio = found.1 / wanted;
        (distance(*found.1) <= 0.25_f64.ln_1p()).then_some((found.0, ratio))
    };
    counts.iter().map(nearest).collect()
}

/// The first number of threads from which on a step to the next one gains less than half of what it could: T(p) / T(q) below 1 + (q/p − 1) / 2. `times` are (threads, time) in order; [`None`]: it scales as far as it was measured.
pub fn stops_scaling(times: &[(f64, f64)]) -> Option<f64> {
    let step = times.windows(2).find(|pair| {
        let [(p, before), (q, after)] = [pair[0], pair[1]];
        before / after < 1.0 + (q / p - 1.0) / 2.0
    })?;
    Some(step[0].0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amdahls_law_has_its_serial_fraction_everywhere() {
        for p in [2.0, 4.0, 64.0] {
            let time = 0.1 + 0.9 / p;
            assert!((karp_flatt(p, speedup(1.0, time)).unwrap() - 0.1).abs() < 1e-12);
        }
        assert_eq!(karp_flatt(1.0, 1.0), None);
    }

    #[test]
    fn efficiency_is_relative_to_the_reference() {
        assert_eq!(efficiency((1.0, 8.0), 4.0, 2.0), 1.0);
        assert_eq!(efficiency((2.0, 4.0), 4.0, 4.0), 0.5);
        assert_eq!(speedup_loss(4.0, 3.5), 0.5);
        assert_eq!(energy_delay(3.0, 2.0, 2), 12.0);
    }

    #[test]
    fn fronts_agree_with_brute_force() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..300 {
            let count = random.usize(..12);
            let points: Vec<(f64, f64)> = (0..count)
                .map(|_| (f64::from(random.u8(..5)), f64::from(random.u8(..5))))
                .collect();
            let beats = |a: (f64, f64), b: (f64, f64)| a.0 <= b.0 && a.1 <= b.1 && a != b;
            let mut expected: Vec<usize> = (0..count)
                .filter(|at| !points.iter().any(|other| beats(*other, points[*at])))
                .collect();
            let mut found = pareto(&points);
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "{points:?}");
        }
    }

    #[test]
    fn weak_scaling_takes_the_input_with_as_much_more_work() {
        // Matrix products: n = 100, 126, 159, 200 are 1, 2, 4.02 and 8 times the work.
        let on_one = [1.0, 2.0, 4.02, 8.0];
        let found = weak_inputs(&[1.0, 2.0, 4.0, 16.0], &on_one);
        assert_eq!(
            found.iter().map(|it| it.map(|it| it.0)).collect::<Vec<_>>(),
            [Some(0), Some(1), Some(2), None]
        );
        assert!((found[2].unwrap().1 - 1.005).abs() < 1e-9);
    }

    #[test]
    fn scaling_stops_where_steps_gain_little() {
        let amdahl = |p: f64| (p, 0.1 + 0.9 / p);
        // Steps of 2: 1.82, 1.69, 1.53, 1.36: the step from 8 to 16 gains less than half.
        assert_eq!(
            stops_scaling(&[1.0, 2.0, 4.0, 8.0, 16.0].map(amdahl)),
            Some(8.0)
        );
        assert_eq!(stops_scaling(&[1.0, 2.0].map(|p| (p, 1.0 / p))), None);
    }
}
