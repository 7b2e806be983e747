/// All series of one name: what they measure, for `# HELP` and the documentation.
public struct MetricFamily: Sendable, Equatable {
    /// What kind of series they are.
    public enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    /// Name, in the unit of its last word: `_seconds`, `_bytes`; counters end in `_total`.
    public let name: String
    /// Kind.
    public let kind: Kind
    /// Names of the labels.
    public let labels: [String]
    /// One sentence without its full stop.
    public let help: String

    /// Describes a family.
    public init(_ name: String, _ kind: Kind, labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }
}

/// A value that is read when the metrics are requested.
public struct MetricSample: Sendable, Equatable {
    let name: String
    let labels: [(String, String)]
    let value: Double

    /// Creates a sample of a family.
    public init(_ name: String, _ value: Double, labels: [(String, String)] = []) {
        self.name = name
        self.labels = labels
        self.value = value
    }

    /// Whether name, labels and value are the same.
    public static func == (a: MetricSample, b: MetricSample) -> Bool {
        a.name == b.name && a.value == b.value && a.labels.elementsEqual(b.labels, by: ==)
    }
}

/// A text format of metrics.
public enum MetricFormat: Sendable {
    /// The text exposition format 0.0.4 of Prometheus.
    case prometheus
    /// OpenMetrics 1.0.
    case openMetrics
}
