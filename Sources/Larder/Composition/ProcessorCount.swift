import Foundation
import NIOCore

/// Number of processors that this process may use.
enum ProcessorCount {
    /// The smallest limit of the machine, of its control group and of the process (`taskset`, `docker run
    /// --cpuset-cpus`). One event loop for each: two that share a processor take turns of milliseconds, and requests on
    /// the other one wait that long.
    static var available: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        return min(System.coreCount, allowed(in: status) ?? .max)
    }

    /// Returns the number of processors in `Cpus_allowed` of proc_pid_status(5), a mask in hexadecimal digits with
    /// commas; nil if there is none.
    static func allowed(in status: String) -> Int? {
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") }) else {
            return nil
        }
        let count = line.dropFirst("Cpus_allowed:".count).compactMap(\.hexDigitValue).reduce(0) {
            $0 + $1.nonzeroBitCount
        }
        return count > 0 ? count : nil
    }
}
