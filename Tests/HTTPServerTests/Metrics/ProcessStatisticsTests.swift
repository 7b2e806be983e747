import Testing

@testable import HTTPServer

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
