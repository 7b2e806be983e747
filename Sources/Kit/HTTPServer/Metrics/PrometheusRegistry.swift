public import CoreMetrics
import Synchronization

/// All measurements of the process, in the text formats that Prometheus reads. The backend of swift-metrics; the
/// composition root puts it in place.
///
/// Counters are counters; gauges and recorders without aggregation are gauges; timers and aggregating recorders are
/// histograms (timers in seconds).
///
/// A process can have several servers: what is measured within ``current`` goes to that registry instead.
public final class PrometheusRegistry: MetricsFactory, Sendable {
    /// The registry of the server for which the task works; nil for that of the process.
    @TaskLocal public static var current: PrometheusRegistry?

    private let series = Mutex<[SeriesKey: Series]>([:])
    private let families: [String: MetricFamily]

    /// An empty registry.
    /// - Parameter families: descriptions of what will be measured; a family without one gets no `# HELP`
    public init(families: [MetricFamily] = []) {
        self.families = Dictionary(families.map { ($0.name, $0) }) { first, _ in first }
    }

    /// Returns everything measured, sorted by name.
    /// - Parameters:
    ///   - format: the text format
    ///   - samples: values of gauges and counters that are not measured by swift-metrics
    public func exposition(_ format: MetricFormat = .prometheus, _ samples: [MetricSample] = []) -> String {
        var all = series.withLock { $0 }.map { (key: $0.key, series: $0.value) }
        for sample in samples {
            let series = Series(families[sample.name]?.kind ?? .gauge)
            series.set(sample.value)
            all.append((SeriesKey(label: sample.name, dimensions: sample.labels), series))
        }
        all.sort { $0.key < $1.key }
        var text = ""
        var lastName = ""
        for (key, series) in all {
            if key.name != lastName { text += head(of: key.name, series.kind, format) }
            lastName = key.name
            text += series.lines(name: key.name, labels: key.labels, format)
        }
        return format == .openMetrics ? text + "# EOF\n" : text
    }

    /// `# HELP` and `# TYPE` of a family. OpenMetrics names counters without `_total`.
    private func head(of name: String, _ kind: MetricFamily.Kind, _ format: MetricFormat) -> String {
        let family =
            format == .openMetrics && kind == .counter && name.hasSuffix("_total")
            ? String(name.dropLast("_total".count)) : name
        let help = families[name].map { "# HELP \(family) \(Self.escaped($0.help, format)).\n" } ?? ""
        return help + "# TYPE \(family) \(kind.rawValue)\n"
    }

    private static func escaped(_ help: String, _ format: MetricFormat) -> String {
        let text = help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        return format == .openMetrics ? text.replacing("\"", with: "\\\"") : text
    }

    private var used: PrometheusRegistry { Self.current ?? self }

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
        used.find(label, dimensions) { Series(.counter) }
    }

    /// A gauge.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        used.find(label, dimensions) { Series(.gauge) }
    }

    /// A gauge, or a histogram where values are to be aggregated.
    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        used.find(label, dimensions) { aggregate ? Series(.histogram) : Series(.gauge) }
    }

    /// A histogram in seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        used.find(label, dimensions, suffix: label.hasSuffix("_seconds") ? "" : "_seconds") { Series(.histogram) }
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
