import CoreMetrics
import Metrics
import Testing

@testable import Server

struct PrometheusRegistryTests {
    private let registry = PrometheusRegistry()

    @Test("SRV-12 Counters, gauges and recorders in the text format, sorted, one type line a name")
    func exposition() {
        Counter(label: "b_total", dimensions: [("x", "2")], factory: registry).increment(by: 3)
        Counter(label: "b_total", dimensions: [("x", "1")], factory: registry).increment()
        Counter(label: "b_total", dimensions: [("x", "1")], factory: registry).increment()
        Meter(label: "a-b.c", factory: registry).set(1.5)
        Recorder(label: "r", dimensions: [], aggregate: false, factory: registry).record(7)
        #expect(
            registry.exposition() == """
                # TYPE a_b_c gauge
                a_b_c 1.5
                # TYPE b_total counter
                b_total{x="1"} 2
                b_total{x="2"} 3
                # TYPE r gauge
                r 7

                """
        )
    }

    @Test("Timers are histograms in seconds: buckets cumulate, +Inf is the count")
    func histogram() {
        let timer = Metrics.Timer(label: "t", dimensions: [("route", "/v1")], factory: registry)
        timer.recordNanoseconds(500_000)
        timer.recordNanoseconds(2_000_000)
        timer.recordNanoseconds(60_000_000_000)
        let lines = registry.exposition().split(separator: "\n").map(String.init)
        #expect(lines.first == "# TYPE t_seconds histogram")
        #expect(lines.contains(#"t_seconds_bucket{route="/v1",le="0.0001"} 0"#))
        #expect(lines.contains(#"t_seconds_bucket{route="/v1",le="0.0005"} 1"#))
        #expect(lines.contains(#"t_seconds_bucket{route="/v1",le="0.0025"} 2"#))
        #expect(lines.contains(#"t_seconds_bucket{route="/v1",le="10"} 2"#))
        #expect(lines.contains(#"t_seconds_bucket{route="/v1",le="+Inf"} 3"#))
        #expect(lines.contains(#"t_seconds_count{route="/v1"} 3"#))
        #expect(lines.contains { $0.hasPrefix(#"t_seconds_sum{route="/v1"} 60.0025"#) })
    }

    @Test("TRUST-17 Described families have HELP; values that are read on request are among them")
    func help() {
        let registry = PrometheusRegistry(families: [
            MetricFamily("a_total", .counter, "What a \\ counts"), MetricFamily("b_bytes", .gauge, "Size"),
            MetricFamily("unused", .gauge, "Nothing"),
        ])
        Counter(label: "a_total", factory: registry).increment()
        let samples = [MetricSample("b_bytes", 1.5, labels: [("x", "1")]), MetricSample("b_bytes", 2)]
        #expect(
            registry.exposition(.prometheus, samples) == """
                # HELP a_total What a \\\\ counts.
                # TYPE a_total counter
                a_total 1
                # HELP b_bytes Size.
                # TYPE b_bytes gauge
                b_bytes 2
                b_bytes{x="1"} 1.5

                """
        )
    }

    @Test("TRUST-17 OpenMetrics: families of counters without _total, bounds with a fraction, an end")
    func openMetrics() {
        let registry = PrometheusRegistry(families: [MetricFamily("a_total", .counter, "Count")])
        Counter(label: "a_total", factory: registry).increment()
        Metrics.Timer(label: "t", factory: registry).recordNanoseconds(1)
        let text = registry.exposition(.openMetrics)
        #expect(text.hasPrefix("# HELP a Count.\n# TYPE a counter\na_total 1\n# TYPE t_seconds histogram\n"))
        #expect(text.contains("t_seconds_bucket{le=\"1.0\"} 1\n") && text.hasSuffix("\n# EOF\n"))
    }

    @Test("Label values cannot break a line")
    func escaping() {
        Counter(label: "c", dimensions: [("x", "a\"b\\c\nd")], factory: registry).increment()
        #expect(registry.exposition().contains(#"c{x="a\"b\\c\nd"} 1"#))
    }

    @Test("Many writers lose nothing")
    func concurrency() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask { [registry] in
                    for _ in 0..<100 { Counter(label: "n", factory: registry).increment() }
                }
            }
        }
        #expect(registry.exposition().contains("n 5000\n"))
    }
}

struct ProcessStatisticsTests {
    @Test("TRUST-17 The kernel's texts, with a program whose name has spaces and parentheses")
    func texts() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 9 0 1000 1048576 25 18446744073709551615 1"
        let statistics = ProcessStatistics(
            stat: stat,
            systemStat: "cpu 1 2\nbtime 1700000000\nprocesses 5\n",
            openFiles: 12,
            limits:
                "Limit Soft Hard Units\nMax open files            1024                 4096                 files\n",
            ticksPerSecond: 100,
            pageBytes: 4096
        )
        #expect(
            statistics.samples == [
                MetricSample("process_cpu_seconds_total", 3), MetricSample("process_max_fds", 1024),
                MetricSample("process_open_fds", 12), MetricSample("process_resident_memory_bytes", 102_400),
                MetricSample("process_start_time_seconds", 1_700_000_010), MetricSample("process_threads", 9),
                MetricSample("process_virtual_memory_bytes", 1_048_576),
            ]
        )
    }

    @Test("TRUST-17 What cannot be read is left out")
    func missing() {
        let statistics = ProcessStatistics(
            stat: "",
            systemStat: "",
            openFiles: nil,
            limits: "Max open files unlimited",
            ticksPerSecond: 100,
            pageBytes: 4096
        )
        #expect(statistics.samples.isEmpty)
    }

    #if os(Linux)
    @Test("TRUST-17 This process has all of them")
    func now() {
        #expect(ProcessStatistics.now().samples.count == ProcessStatistics.families.count)
    }
    #endif
}
