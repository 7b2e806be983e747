import Cluster
import Foundation
import Screens
import Storage
import TestKit
import Testing

@testable import Larder

@Suite struct DoctorTests {
    @Test("C15 A full disk, or an exhausted quota, is named; all else is looked at", arguments: [true, false])
    func fullDisk(isQuota: Bool) async throws {
        let (data, apps) = (try TemporaryFolder(), AppList.standard)
        try LarderDatabase(in: DataDirectory(at: data.url), migrations: apps.migrations, logger: .quiet).close()
        func findings() -> [Check] {
            DataCheck.findings(at: data.url, apps: apps, readsFiles: true, progress: { _ in })
        }
        // Others use the disk as well: the number is not the same the next time.
        func others(_ findings: [Check]) -> [Check] { findings.filter { $0.subject != "space" } }
        let before = findings()
        #expect(before.allSatisfy { $0.verdict == .well }, "\(before)")
        let shown = before.first { $0.subject == "space" }?.detail ?? ""
        #expect(shown.contains(/^[1-9]\d* MiB are free$/), "\(before)")
        let scope = try FaultScope(data.path)
        let (found, _) = await scope.failing(isQuota ? .quota : .fullDisk, at: 1) { findings() }
        let space = try #require(found.first { $0.subject == "space" })
        #expect(space.verdict == .degraded && space.detail.contains("is full"), "\(found)")
        #expect(others(found) == others(before), "\(found)")
        // Beside a running server, too.
        let lock = try DataDirectory(at: data.url)
        let beside = await scope.failing(isQuota ? .quota : .fullDisk, at: 1) { findings() }.value
        #expect(beside.map(\.subject) == ["data directory", "space"] && beside[1].verdict == .degraded, "\(beside)")
        withExtendedLifetime(lock) {}
        #expect(try !FileManager.default.contentsOfDirectory(atPath: data.path).contains { $0.contains("probe") })
    }

    @Test("C15 A port on which another program listens is named; that of a running server is well")
    func address() async throws {
        let other = try await RawServer { _ in nil }
        func finding(_ port: Int, isServed: Bool) async throws -> Check {
            let reader = try SettingsReader(arguments: ["--http-port", "\(port)"], environment: [:], file: nil)
            let configuration = try LarderConfiguration(reader, environment: ["HOME": "/home/someone"])
            return await AddressCheck.finding(configuration, isServed: isServed)
        }
        let taken = try await finding(other.port, isServed: false)
        #expect(taken.verdict == .degraded && taken.detail.contains("\(other.port): another program listens there"))
        #expect(try await finding(other.port, isServed: true).verdict == .well)
        try await other.close()
        #expect(try await finding(0, isServed: false).verdict == .well)
    }

    @Test("C15 SCALE-22 A clock that differs from PostgreSQL's by more than half a minute is named, with the side")
    func clock() async throws {
        let server = try await RunningPostgres.shared.value
        let url = "\(server.address())&options=-csearch_path%3D\(try server.schema())"
        let arguments = ["--node-apps", "notes", "--store-url", url, "--store-timeout-ms", "60000"]
        let reader = try SettingsReader(arguments: arguments, environment: [:], file: nil)
        let configuration = try LarderConfiguration(reader, environment: ["HOME": "/home/someone"])
        let store = try #require(configuration.store)
        func finding(_ offset: TimeInterval) async -> Check {
            await StoreCheck.finding(store, configuration.apps, now: Date().addingTimeInterval(offset))
        }
        let right = await finding(0)
        #expect(right.verdict == .well && right.detail.contains("larder serve will add tables"), "\(right)")
        let (ahead, behind) = (await finding(400 * 86_400), await finding(-3600))
        #expect(ahead.verdict == .degraded && behind.verdict == .degraded)
        #expect(ahead.detail.contains(#/clock is 345[56]\d{4} s ahead of its clock$/#), "\(ahead)")
        #expect(behind.detail.contains(#/clock is 3[56]\d\d s behind its clock$/#), "\(behind)")
    }
}
