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
        #expect(progress.isOutcomeUnknown && !progress.isUnsent)
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

    @Test("SCALE-27 what fails three times while the upstream is well lets others pass, and is tried again")
    func aside() {
        var progress = OutboxProgress()
        var time = noon
        for attempt in 1...4 {
            _ = progress.apply(.began, at: time)
            #expect(
                progress.apply(.delayed("locked", for: nil), at: time, jitter: 0.99, isUpstreamWell: true) == .sleep
            )
            #expect((progress.state == .aside) == (attempt >= 3) && progress.isUnsent)
            #expect(progress.letsOthersPass == (attempt >= 3) && progress.needsDecision == (attempt >= 3))
            if attempt == 3 { #expect(time.timeIntervalSince(noon) < 30) }
            time = progress.nextAttempt ?? time
        }
        #expect(time.timeIntervalSince(noon) > 60, "its pauses go on growing")
        _ = progress.apply(.retried, at: time)
        #expect(progress.state == .queued && !progress.letsOthersPass)
        _ = progress.apply(.began, at: time)
        _ = progress.apply(.lost("outcome-unknown"), at: time)
        #expect(progress.state == .waiting && progress.isOutcomeUnknown, "an upstream that is not well holds up all")
    }

    @Test("DISK-40 a write that the upstream continues is polled, doubtful, and lets others pass; a poll is no attempt")
    func following() {
        var progress = OutboxProgress()
        for pause in [1.0, 5, 60] {
            #expect(progress.apply(.accepted(askedAfter: pause), at: noon) == .none, "it was not sent")
            _ = progress.apply(.began, at: noon)
            #expect(progress.apply(.accepted(askedAfter: pause), at: noon) == .sleep)
            #expect(progress.state == .processing && progress.nextAttempt == noon.addingTimeInterval(pause))
            #expect(
                progress.isOutcomeUnknown && !progress.isUnsent && progress.letsOthersPass && !progress.needsDecision
            )
            #expect(progress.attempts == 1)
        }
        _ = progress.apply(.began, at: noon)
        _ = progress.apply(.interrupted, at: noon)
        #expect(progress.state == .waiting && progress.isOutcomeUnknown)
        _ = progress.apply(.began, at: noon)
        #expect(progress.apply(.succeeded, at: noon) == .release)
    }

    @Test("In any sequence of events an operation is done at most once, and stays doubtful until its outcome is known")
    func randomly() {
        var random = SeededRandom(seed: 20)
        let events: [OutboxProgress.Event] = [
            .began, .began, .succeeded, .conflicted("changed"), .refused("no"), .delayed("later", for: 1), .lost("cut"),
            .postponed, .interrupted, .retried, .accepted(askedAfter: 1),
        ]
        for _ in 0..<500 {
            var progress = OutboxProgress()
            var releases = 0
            for _ in 0..<30 {
                let event = events.randomElement(using: &random) ?? .began
                let before = progress
                let isWell = Bool.random(using: &random)
                if progress.apply(event, at: noon, isUpstreamWell: isWell) == .release { releases += 1 }
                if before.state == .done { #expect(progress == before) }
                if before.isOutcomeUnknown, !progress.isOutcomeUnknown {
                    #expect(progress.state == .done || progress.isStuck, "\(event) after \(before)")
                }
                if progress.state == .running { #expect(event == .began || before.state == .running) }
            }
            #expect(releases <= 1)
        }
    }
}
