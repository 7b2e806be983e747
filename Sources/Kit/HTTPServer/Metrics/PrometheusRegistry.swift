public import CoreMetrics
import Synchronization

/// All measurements of the process, in the text format that Prometheus reads. The backend of swift-metrics; the
/// composition root puts it in place.
///
/// Counters are counters; gauges and recorders without aggregation are gauges; timers and aggregating recorders are
/// histograms (timers in seconds).
public final class PrometheusRegistry: MetricsFactory, Sendable {
    private let series = Mutex<[SeriesKey: Series]>([:])

    /// An empty registry.
    public init() {}

    /// The text exposition format 0.0.4 of everything measured, sorted by name.
    public func exposition() -> String {
        let all = series.withLock { $0 }.sorted { $0.key < $1.key }
        var text = ""
        var lastName = ""
        for (key, series) in all {
            if key.name != lastName {
                text += "# TYPE \(key.name) \(series.type)\n"
                lastName = key.name
            }
            text += series.lines(name: key.name, labels: key.labels)
        }
        return text
    }

    private func find(_ label: String, _ dimensions: [(String, String)], suffix: String = "", make: () -> Series)
        -> Series
    {
        let key = SeriesKey(label: label + suffix, dimensions: dimensions)
        return series.withLock { all in
            if let known = all[key] { return known }
            let new = make()
            all[key] = new
            return new
        }
    }

    /// A counter.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        find(label, dimensions) { Series(.counter) }
    }

    /// A gauge.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        find(label, dimensions) { Series(.gauge) }
    }

    /// A gauge, or a histogram where values are to be aggregated.
    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        find(label, dimensions) { aggregate ? Series(.histogram) : Series(.gauge) }
    }

    /// A histogram in seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        find(label, dimensions, suffix: label.hasSuffix("_seconds") ? "" : "_seconds") { Series(.histogram) }
    }

    /// Series live as long as the process.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Series live as long as the process.
    public func destroyMeter(_ handler: any MeterHandler) {}
    /// Series live as long as the process.
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Series live as long as the process.
    public func destroyTimer(_ handler: any TimerHandler) {}
}

/// Name and labels of a series, as they are written.
private struct SeriesKey: Hashable, Comparable {
    let name: String
    let labels: String

    init(label: String, dimensions: [(String, String)]) {
        name = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") ? $0 : "_" })
        labels = dimensions.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(name)=\"\(escaped)\""
        }.joined(separator: ",")
    }

    static func < (a: SeriesKey, b: SeriesKey) -> Bool { (a.name, a.labels) < (b.name, b.labels) }
}
