//! Raw numbers to units, where the target's description tells how (`[temperature]` in `cross-targets`).

use instr_cc::targets::Temperature;

use super::model::Sensor;

/// Ends the name of a sensor that holds a chip's raw temperature.
const TEMPERATURE: &str = "/temperature";

/// Converts the raw temperatures among `sensors` to degrees. The alarm is no temperature.
pub fn temperatures(sensors: &mut [Sensor], by: Option<&Temperature>) {
    let Some(by) = by.filter(|by| by.slope.is_finite() && by.offset.is_finite()) else {
        return;
    };
    for sensor in sensors.iter_mut().filter(|sensor| sensor.unit == "raw") {
        let (name, label) = sensor.name.split_once(':').unwrap_or((&sensor.name, ""));
        if !name.ends_with(TEMPERATURE) || !["", "now", "min", "max"].contains(&label) {
            continue;
        }
        let degrees = |raw: Option<f64>| raw.map(|raw| raw * by.slope + by.offset);
        let (min, max) = (degrees(sensor.min), degrees(sensor.max));
        // What is colder may be the larger number.
        (sensor.min, sensor.max) = if by.slope < 0.0 {
            (max, min)
        } else {
            (min, max)
        };
        sensor.mean = degrees(sensor.mean);
        sensor.unit = "degC".to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sensor(name: &str, unit: &str) -> Sensor {
        Sensor {
            name: name.to_owned(),
            unit: unit.to_owned(),
            min: Some(40.0),
            mean: Some(50.0),
            max: Some(80.0),
            ..Sensor::default()
        }
    }

    fn converted(name: &str, unit: &str, slope: f64) -> (String, [Option<f64>; 3]) {
        let mut sensors = [sensor(name, unit)];
        let by = Temperature {
            slope,
            offset: -10.0,
        };
        temperatures(&mut sensors, Some(&by));
        let [sensor] = sensors;
        (sensor.unit, [sensor.min, sensor.mean, sensor.max])
    }

    #[test]
    fn raw_temperatures_are_converted_and_nothing_else() {
        let raw = [Some(40.0), Some(50.0), Some(80.0)];
        let (unit, values) = converted("gr740/temperature:now", "raw", 1.5);
        assert_eq!(
            (unit.as_str(), values),
            ("degC", [Some(50.0), Some(65.0), Some(110.0)])
        );
        let (unit, values) = converted("gr740/temperature:max", "raw", -1.0);
        assert_eq!(
            (unit.as_str(), values),
            ("degC", [Some(-90.0), Some(-60.0), Some(-50.0)])
        );
        for (name, unit) in [
            ("gr740/temperature:alarm", "raw"),
            ("hwmon/x/temperature:now", "degC"),
            ("l4stat:time@0", "raw"),
        ] {
            assert_eq!(converted(name, unit, 2.0), (unit.to_owned(), raw));
        }
        let mut sensors = [sensor("gr740/temperature:now", "raw")];
        temperatures(&mut sensors, None);
        assert_eq!(sensors[0].unit, "raw");
    }
}
