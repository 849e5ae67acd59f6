//! The power of the whole machine, as its management controller says it (IPMI's DCMI), read by `ipmitool` again and again while a run goes on. That is a sensor of time samples: energy is the area below them.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use instr_cc::exec::Call;

use super::energy::beside;
use crate::launch;

/// Controllers measure about once a second.
const PERIOD: Duration = Duration::from_secs(1);
/// One that does not answer for so long does not answer.
const LIMIT: Duration = Duration::from_secs(10);
/// What the command prints in front of the number.
const LABEL: &str = "Instantaneous power reading";
/// Longer answers are none.
const MOST_BYTES: u64 = 1 << 16;

/// How a controller is asked.
#[derive(Debug)]
pub(super) struct Controller {
    program: PathBuf,
    arguments: Vec<String>,
}

/// A moment and the power then, W.
type Sample = (Instant, f64);

impl Controller {
    /// Of this machine (`local`), or the one with this name or address: `HOST` or `USER@HOST`. Its password is in the variable `IPMI_PASSWORD`, which ipmitool reads: a command line shows it to everybody.
    ///
    /// # Errors
    ///
    /// There is no ipmitool, or the controller does not say the power.
    pub(super) fn new(target: &str) -> Result<Self> {
        let program = launch::find("ipmitool".as_ref())
            .context("the power of the machine (ipmi) is read by the command ipmitool")?;
        let controller = Self {
            program,
            arguments: arguments(target)?,
        };
        controller.read()?;
        Ok(controller)
    }

    /// The power now, W.
    fn read(&self) -> Result<f64> {
        let mut answer = tempfile::tempfile().context("cannot make a temporary file")?;
        let mut call = Call::new(&self.program).args(&self.arguments);
        call.env.push(("LC_ALL", Some("C".into())));
        let output: File = answer.try_clone().context("cannot use a temporary file")?;
        let measured = call
            .measure(Some(output), Some(LIMIT), |_| {})
            .context("cannot run ipmitool")?;
        ensure!(!measured.timed_out, "ipmitool did not answer within 10 s");
        answer.rewind().context("cannot read what ipmitool said")?;
        let mut bytes = Vec::new();
        answer
            .take(MOST_BYTES)
            .read_to_end(&mut bytes)
            .context("cannot read what ipmitool said")?;
        watts(&String::from_utf8_lossy(&bytes))
    }

    /// Calls `run`; the energy of the machine meanwhile, J, if the controller answered before or behind it at least.
    pub(super) fn around<T>(&self, run: impl FnOnce() -> T) -> (T, Option<f64>) {
        let mut samples = Vec::new();
        self.sample(&mut samples);
        let begin = Instant::now();
        let timed = || {
            let result = run();
            (result, Instant::now())
        };
        let (result, end) = beside(PERIOD, || self.sample(&mut samples), timed);
        self.sample(&mut samples);
        (result, joules(&samples, begin, end))
    }

    /// A sample belongs to the middle of the time that the answer took. One that fails is left out.
    fn sample(&self, samples: &mut Vec<Sample>) {
        let begin = Instant::now();
        if let Ok(watts) = self.read() {
            samples.push((begin + begin.elapsed() / 2, watts));
        }
    }
}

fn arguments(target: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    if target != "local" {
        let (user, host) = match target.split_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, target),
        };
        ensure!(
            !host.is_empty() && !host.starts_with('-') && user != Some(""),
            "`{target}` is no management controller: write local, HOST or USER@HOST"
        );
        words.extend(["-I", "lanplus", "-H", host]);
        words.extend(user.into_iter().flat_map(|user| ["-U", user]));
        words.push("-E");
    }
    words.extend(["dcmi", "power", "reading"]);
    Ok(words.into_iter().map(str::to_owned).collect())
}

/// The power in an answer, W.
fn watts(answer: &str) -> Result<f64> {
    let line = answer.lines().find(|line| line.contains(LABEL));
    let number = line.and_then(|line| {
        line.split_once(':')?
            .1
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    });
    match number {
        Some(watts) if (0.0..1e6).contains(&watts) => Ok(watts),
        _ => {
            let said = answer.lines().map(str::trim).find(|line| !line.is_empty());
            bail!(
                "the management controller does not say the power of the machine; ipmitool says: {}",
                said.unwrap_or("nothing")
            )
        }
    }
}

/// The area below the samples from `begin` to `end`: straight lines between them, the first and the last value before and behind.
fn joules(samples: &[Sample], begin: Instant, end: Instant) -> Option<f64> {
    let (first, last) = (samples.first()?, samples.last()?);
    let seconds = |from: Instant, to: Instant| to.saturating_duration_since(from).as_secs_f64();
    let mut points = vec![(0.0, first.1)];
    let inside = samples.iter().filter(|(at, _)| *at > begin && *at < end);
    // What the line has at the border.
    let border = |at: Instant| {
        let behind = samples.iter().position(|(time, _)| *time >= at)?;
        let (before, behind) = (samples.get(behind.checked_sub(1)?)?, &samples[behind]);
        let share = seconds(before.0, at) / seconds(before.0, behind.0).max(1e-9);
        Some(before.1 + share * (behind.1 - before.1))
    };
    points[0].1 = border(begin).unwrap_or(first.1);
    points.extend(inside.map(|(at, watts)| (seconds(begin, *at), *watts)));
    points.push((seconds(begin, end), border(end).unwrap_or(last.1)));
    let area = |pair: &[(f64, f64)]| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0;
    Some(points.windows(2).map(area).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_others_shown() {
        let answer = "\n    Instantaneous power reading:                   164 Watts\n    Minimum during sampling period:                 4 Watts\n";
        assert_eq!(watts(answer).unwrap(), 164.0);
        let refused = watts("\nCould not open device at /dev/ipmi0: No such file or directory\n");
        assert!(
            refused
                .unwrap_err()
                .to_string()
                .ends_with("says: Could not open device at /dev/ipmi0: No such file or directory")
        );
        assert!(watts("Instantaneous power reading: lots").is_err());
        assert!(watts("").unwrap_err().to_string().ends_with("nothing"));
    }

    #[test]
    fn a_password_is_never_an_argument() {
        let remote = arguments("admin@bmc7").unwrap().join(" ");
        assert_eq!(remote, "-I lanplus -H bmc7 -U admin -E dcmi power reading");
        assert_eq!(arguments("local").unwrap().join(" "), "dcmi power reading");
        for wrong in ["", "@host", "user@", "-x"] {
            assert!(arguments(wrong).is_err(), "{wrong}");
        }
    }

    /// 100 W at -1 s, 200 W at 1 s, 200 W at 3 s, 100 W at 5 s: from 0 to 4 s it is 150 to 200 W in 1 s, 200 W for 2 s, 200 to 150 W in 1 s.
    #[test]
    fn energy_is_the_area_below_the_samples() {
        let zero = Instant::now() + Duration::from_secs(100);
        let at = |s: f64| zero + Duration::from_secs_f64(s + 10.0) - Duration::from_secs(10);
        let samples = [
            (at(-1.0), 100.0),
            (at(1.0), 200.0),
            (at(3.0), 200.0),
            (at(5.0), 100.0),
        ];
        let found = joules(&samples, at(0.0), at(4.0)).unwrap();
        assert!((found - 750.0).abs() < 1e-6, "{found}");
        let one = joules(&samples[..1], at(0.0), at(4.0)).unwrap();
        assert!((one - 400.0).abs() < 1e-6, "{one}");
        assert_eq!(joules(&[], at(0.0), at(4.0)), None);
    }
}
