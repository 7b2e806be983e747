import Foundation
import TestKit
import Testing

@testable import Upstream

struct OutboxProgressTests {
    private let noon = Date(timeIntervalSince1970: 1_767_700_000)

    @Test("An operation that was being sent when the process ended is looked at before it is sent again")
    func interruption() {
        #expect(OutboxProgress().isUnsent)
        var progress = OutboxProgress()
        #expect(progress.apply(.began, at: noon) == .look)
        #expect(progress.apply(.interrupted, at: noon) == .none)
        #expect(progress.isDoubtful && !progress.isUnsent)
        #expect(progress.state == .waiting && progress.nextAttempt == nil)
    }

    @Test("Being away is no attempt; a refusal is, and waits twice as long each time, at least as asked")
    func attempts() {
        var progress = OutboxProgress()
        _ = progress.apply(.began, at: noon)
        _ = progress.apply(.postponed, at: noon)
        #expect(progress.state == .queued && progress.attempts == 0)
        for pause in [5.0, 10, 20] {
            _ = progress.apply(.began, at: noon)
            #expect(progress.apply(.delayed("locked", for: nil), at: noon) == .sleep)
            #expect(progress.nextAttempt == noon.addingTimeInterval(pause))
        }
        _ = progress.apply(.began, at: noon)
        _ = progress.apply(.delayed("rate-limited", for: 300), at: noon)
        #expect(progress.nextAttempt == noon.addingTimeInterval(300) && progress.isUnsent)
        #expect(OutboxBackoff.date(attempts: 60, after: noon, atLeast: nil, 0) == noon.addingTimeInterval(3600))
    }

    @Test("In any sequence of events an operation is done at most once, and stays doubtful until its outcome is known")
    func randomly() {
        var random = SeededRandom(seed: 20)
        let events: [OutboxProgress.Event] = [
            .began, .began, .succeeded, .conflicted("changed"), .refused("no"), .delayed("later", for: 1), .lost("cut"),
            .postponed, .interrupted, .retried,
        ]
        for _ in 0..<500 {
            var progress = OutboxProgress()
            var releases = 0
            for _ in 0..<30 {
                let event = events.randomElement(using: &random) ?? .began
                let before = progress
                if progress.apply(event, at: noon) == .release { releases += 1 }
                if before.state == .done { #expect(progress == before) }
                if before.isDoubtful, !progress.isDoubtful {
                    #expect(progress.state == .done || progress.isStuck, "\(event) after \(before)")
                }
                if progress.state == .running { #expect(event == .began || before.state == .running) }
            }
            #expect(releases <= 1)
        }
    }
}
