import Foundation
import Subprocess
import TestKit
import Testing

/// A server that has hardly any descriptors left.
@Suite(.timeLimit(.minutes(10))) struct DescriptorTests {
    /// Sets the soft limit of open files of a running process.
    private static func limit(_ pid: Int32, to files: Int) async throws {
        let result = try await Subprocess.run(
            .name("prlimit"),
            arguments: ["--pid", "\(pid)", "--nofile=\(files):"],
            output: .discarded,
            error: .discarded
        )
        #expect(result.terminationStatus.isSuccess)
    }

    private static func open(_ pid: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }

    @Test("TRUST-09 too few descriptors for a program neither end the process nor blame the file, however few are left")
    func few() async throws {
        let larder = try await RunningLarder.start(data: try TemporaryFolder())
        let pid = try #require(larder.process.pid)
        #expect(try await larder.client.upload([DocumentTests.photo]).status == 201)
        let used = try Self.open(pid)
        for left in stride(from: 30, through: 2, by: -1) {
            try await Self.limit(pid, to: used + left)
            let response = try? await larder.client.upload([DocumentTests.photo])
            if let response {
                let code = response.status == 201 ? nil : try response.json.code.string
                #expect([nil, "processing-unavailable", "storage-failed"].contains(code), "\(left): \(response.text)")
            }
        }
        try await Self.limit(pid, to: 1024)
        #expect(try await larder.client.upload([DocumentTests.photo]).status == 201)
        #expect(await larder.stop() == 0)
    }
}
