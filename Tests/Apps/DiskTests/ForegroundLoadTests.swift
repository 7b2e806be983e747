import TestKit
import Testing

@testable import Disk

@Suite("Work in the background waits for clients", .timeLimit(.minutes(1)))
struct ForegroundLoadTests {
    @Test("DISK-39 it waits until no client waits for the API, at most for the longest wait, or until cancelled")
    func waits() async throws {
        let (clock, load) = (ManualClock(), ForegroundLoad())
        try await load.idle(atMost: .seconds(30), clock.wallClock)
        var uses: [ForegroundLoad.Use] = [load.begin(), load.begin()]
        let waiting = Task { try await load.idle(atMost: .seconds(30), clock.wallClock) }
        await clock.sleepers(of: .seconds(30))
        uses.removeLast()
        #expect(load.isBusy)
        uses.removeLast()
        #expect(!load.isBusy)
        try await waiting.value
        try await load.during {
            let patient = Task { try await load.idle(atMost: .seconds(1), clock.wallClock) }
            await clock.sleepers(of: .seconds(1))
            clock.advance(by: .seconds(1))
            try await patient.value
            #expect(load.isBusy, "the longest wait is over")
            let cancelled = Task { try await load.idle(atMost: .seconds(2), clock.wallClock) }
            await clock.sleepers(of: .seconds(2))
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
        }
        #expect(!load.isBusy)
    }
}
