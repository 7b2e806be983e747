package import CoreMetrics
import Foundation
import Synchronization

/// All measurements of the process, in the text formats that Prometheus reads. The backend of swift-metrics; the
/// composition root puts it in place.
///
/// Counters are counters; gauges and recorders without aggregation are gauges; timers and aggregating recorders are
/// histograms (timers in seconds).
///
/// A process can have several servers: measurements within ``current`` go to that registry instead.
package final class PrometheusRegistry: MetricsFactory, Sendable {
    /// The registry of the server for which the task works; nil for that of the process.
    @TaskLocal package static var current: PrometheusRegistry?

    private let series = Mutex<[SeriesKey: Series]>([:])
    private let families: [String: MetricFamily]

    /// An empty registry.
    /// - Parameter families: descriptions of the families of series; a family without one gets no `# HELP`
    package init(families: [MetricFamily] = []) {
        self.families = Dictionary(families.map { ($0.name, $0) }) { first, _ in first }
    }

    /// Returns everything measured, sorted by name.
    /// - Parameters:
    ///   - format: the text format
    ///   - samples: values of gauges and counters that are not measured by swift-metrics
    package func exposition(_ format: MetricFormat = .prometheus, _ samples: [MetricSample] = []) -> String {
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

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        used.find(label, dimensions) { Series(.counter) }
    }

    /// A gauge.
    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        used.find(label, dimensions) { Series(.gauge) }
    }

    /// A gauge, or a histogram where values are to be aggregated.
    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        used.find(label, dimensions) { aggregate ? Series(.histogram) : Series(.gauge) }
    }

    /// A histogram in seconds.
    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        used.find(label, dimensions, suffix: label.hasSuffix("_seconds") ? "" : "_seconds") { Series(.histogram) }
    }

    // Series live as long as the process.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}
}

/// Name and labels of a series in their written form.
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

/// One series of measurements, as swift-metrics feeds it and Prometheus reads it.
final class Series: CounterHandler, MeterHandler, RecorderHandler, TimerHandler, Sendable {
    /// Upper bounds of a histogram's buckets, in seconds for timers: Prometheus' own, and two below for responses from
    /// memory.
    static let bounds: [Double] = [
        0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    private struct Values {
        var value = 0.0
        var count = 0
        var buckets = [Int](repeating: 0, count: Series.bounds.count)
    }

    let kind: MetricFamily.Kind
    private let values = Mutex(Values())

    init(_ kind: MetricFamily.Kind) {
        self.kind = kind
    }

    func lines(name: String, labels: String, _ format: MetricFormat) -> String {
        let now = values.withLock { $0 }
        let suffix = labels.isEmpty ? "" : "{\(labels)}"
        guard kind == .histogram else { return "\(name)\(suffix) \(Self.text(now.value))\n" }
        let separator = labels.isEmpty ? "" : ","
        var text = ""
        var cumulative = 0
        for (bound, count) in zip(Self.bounds, now.buckets) {
            cumulative += count
            // OpenMetrics requires the fraction.
            let limit = format == .openMetrics ? String(bound) : Self.text(bound)
            text += "\(name)_bucket{\(labels)\(separator)le=\"\(limit)\"} \(cumulative)\n"
        }
        text += "\(name)_bucket{\(labels)\(separator)le=\"+Inf\"} \(now.count)\n"
        return text + "\(name)_sum\(suffix) \(Self.text(now.value))\n\(name)_count\(suffix) \(now.count)\n"
    }

    private static func text(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }

    private func observe(_ value: Double) {
        values.withLock { values in
            guard kind == .histogram else {
                values.value = value
                return
            }
            values.value += value
            values.count += 1
            if let bucket = Self.bounds.firstIndex(where: { value <= $0 }) { values.buckets[bucket] += 1 }
        }
    }

    func increment(by amount: Int64) { values.withLock { $0.value += Double(amount) } }
    func reset() { values.withLock { $0 = Values() } }
    func set(_ value: Int64) { values.withLock { $0.value = Double(value) } }
    func set(_ value: Double) { values.withLock { $0.value = value } }
    func increment(by amount: Double) { values.withLock { $0.value += amount } }
    func decrement(by amount: Double) { values.withLock { $0.value -= amount } }
    func record(_ value: Int64) { observe(Double(value)) }
    func record(_ value: Double) { observe(value) }
    func recordNanoseconds(_ duration: Int64) { observe(Double(duration) / 1e9) }
}

/// A family of series: their name, and its text for `# HELP` and the documentation.
package struct MetricFamily: Sendable, Equatable {
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    /// Name, in the unit of its last word: `_seconds`, `_bytes`; counters end in `_total`.
    package let name: String
    package let kind: Kind
    package let labels: [String]
    /// One sentence without its full stop.
    package let help: String

    package init(_ name: String, _ kind: Kind, labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }
}

/// A value that is read when the metrics are requested.
package struct MetricSample: Sendable, Equatable {
    let name: String
    let labels: [(String, String)]
    let value: Double

    package init(_ name: String, _ value: Double, labels: [(String, String)] = []) {
        self.name = name
        self.labels = labels
        self.value = value
    }

    /// Whether name, labels and value are the same.
    package static func == (a: MetricSample, b: MetricSample) -> Bool {
        a.name == b.name && a.value == b.value && a.labels.elementsEqual(b.labels, by: ==)
    }
}

package enum MetricFormat: Sendable {
    /// The text exposition format 0.0.4 of Prometheus.
    case prometheus
    /// OpenMetrics 1.0.
    case openMetrics
}

/// Figures of the kernel about this process, under the names that Prometheus' client libraries use (proc_pid_stat(5)).
package struct ProcessStatistics: Sendable, Equatable {
    /// The families of ``samples``.
    package static let families = [
        MetricFamily("process_cpu_seconds_total", .counter, "User and system CPU time of the process in seconds"),
        MetricFamily("process_max_fds", .gauge, "Maximum number of open file descriptors"),
        MetricFamily("process_open_fds", .gauge, "Number of open file descriptors"),
        MetricFamily("process_resident_memory_bytes", .gauge, "Resident memory in bytes"),
        MetricFamily("process_start_time_seconds", .gauge, "Start of the process since the Unix epoch in seconds"),
        MetricFamily("process_threads", .gauge, "Number of threads"),
        MetricFamily("process_virtual_memory_bytes", .gauge, "Virtual memory in bytes"),
    ]

    /// The values, without those that the system does not provide.
    package let samples: [MetricSample]

    /// Reads the statistics now. Empty on a system without `/proc`.
    package static func now() -> ProcessStatistics {
        func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        return ProcessStatistics(
            stat: text("/proc/self/stat"),
            systemStat: text("/proc/stat"),
            openFiles: (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count - 1),
            limits: text("/proc/self/limits"),
            ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))),
            pageBytes: Double(sysconf(Int32(_SC_PAGESIZE)))
        )
    }

    /// Reads the kernel's texts.
    /// - Parameters:
    ///   - stat: `/proc/self/stat`
    ///   - systemStat: `/proc/stat`, for the time of the boot
    ///   - openFiles: number of open file descriptors
    ///   - limits: `/proc/self/limits`
    init(
        stat: String,
        systemStat: String,
        openFiles: Int?,
        limits: String,
        ticksPerSecond: Double,
        pageBytes: Double
    ) {
        // The name of the program, in parentheses, may hold anything; field 3 follows it.
        let fields = stat.split(separator: ")").last.map { $0.split(separator: " ").map { Double($0) } } ?? []
        func field(_ number: Int) -> Double? { fields.count > number - 3 ? fields[number - 3] : nil }
        let boot = systemStat.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap {
            Double($0.dropFirst(6))
        }
        var samples: [MetricSample] = []
        func add(_ name: String, _ value: Double?) {
            if let value { samples.append(MetricSample("process_\(name)", value)) }
        }
        if let user = field(14), let system = field(15) { add("cpu_seconds_total", (user + system) / ticksPerSecond) }
        let files = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
        add("max_fds", files.flatMap { $0.split(separator: " ").dropFirst(3).first }.flatMap { Double($0) })
        add("open_fds", openFiles.map(Double.init))
        add("resident_memory_bytes", field(24).map { $0 * pageBytes })
        if let boot, let start = field(22) { add("start_time_seconds", boot + start / ticksPerSecond) }
        add("threads", field(20))
        add("virtual_memory_bytes", field(23))
        self.samples = samples
    }
}
