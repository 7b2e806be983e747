import Foundation

/// What the kernel knows of this process, under the names that Prometheus' client libraries use (proc_pid_stat(5)).
public struct ProcessStatistics: Sendable, Equatable {
    /// The families of ``samples``.
    public static let families = [
        MetricFamily("process_cpu_seconds_total", .counter, "User and system CPU time of the process in seconds"),
        MetricFamily("process_max_fds", .gauge, "Maximum number of open file descriptors"),
        MetricFamily("process_open_fds", .gauge, "Number of open file descriptors"),
        MetricFamily("process_resident_memory_bytes", .gauge, "Resident memory in bytes"),
        MetricFamily("process_start_time_seconds", .gauge, "Start of the process since the Unix epoch in seconds"),
        MetricFamily("process_threads", .gauge, "Number of threads"),
        MetricFamily("process_virtual_memory_bytes", .gauge, "Virtual memory in bytes"),
    ]

    /// The values, without those that the system does not provide.
    public let samples: [MetricSample]

    /// Reads the statistics now. Empty on a system without `/proc`.
    public static func now() -> ProcessStatistics {
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
