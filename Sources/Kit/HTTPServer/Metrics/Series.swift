import CoreMetrics
import Synchronization

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
