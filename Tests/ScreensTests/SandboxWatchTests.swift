import HTTPTypes
import Server
import Storage
import Synchronization
import TestKit
import Testing
import Upstream

@testable import Screens

@Suite("Watch of the sandbox")
struct SandboxWatchTests {
    private let clock = ManualClock()
    private let transport = ScriptedTransport()

    private static func state(_ fault: String) -> ScriptedTransport.Step {
        response(.ok, #"{"upstreams":[{"name":"spacex","fault":"\#(fault)"},{"name":"people","fault":"online"}]}"#)
    }

    /// Runs a watch, and looks as often as there are responses; returns the names of the upstreams that were noticed.
    private func noticed(isNeeded: Bool = true, _ steps: [ScriptedTransport.Step]) async throws -> [String] {
        let names = Mutex<[String]>([])
        return try await withThrowingTaskGroup(of: Void.self) { group in
            let watch = SandboxWatch(
                controls: "http://127.0.0.1:1/_sandbox",
                transport: transport,
                clock: clock.wallClock,
                isNeeded: { isNeeded },
                changed: { name in names.withLock { $0.append(name) } }
            )
            group.addTask { await watch.run() }
            for step in steps {
                transport.always(step)
                await clock.sleepers(of: .seconds(1))
                clock.advance(by: .seconds(1))
            }
            await clock.sleepers(of: .seconds(1))
            group.cancelAll()
            try await group.waitForAll()
            return names.withLock { $0 }
        }
    }

    @Test("WEB-09 A fault that is set past the server, and its end, are noticed once each")
    func change() async throws {
        let faults = ["online", "offline", "offline", "online"].map(Self.state)
        #expect(try await noticed(faults) == ["spacex", "spacex"])
        #expect(transport.count == 4)
    }

    @Test("A fault that was there before anybody listened is noticed at the first look")
    func earlier() async throws {
        #expect(try await noticed([Self.state("offline")]) == ["spacex"])
    }

    @Test("A sandbox that does not respond, or says something else, changes nothing")
    func silence() async throws {
        let offline = Self.state("offline")
        let steps = [offline, failure(.unreachable(.refused)), response(.ok, "[]"), offline]
        #expect(try await noticed(steps) == ["spacex"])
    }

    @Test("Nothing is asked while no event stream is open")
    func unneeded() async throws {
        #expect(try await noticed(isNeeded: false, [Self.state("offline"), Self.state("offline")]) == [])
        #expect(transport.count == 0)
    }
}
