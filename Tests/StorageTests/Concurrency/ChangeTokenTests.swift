import NIOCore
import TestKit
import Testing

@testable import Concurrency
@testable import Storage

@Suite("How long a response is valid") struct ChangeTokenTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test("It holds until one of its stamps is bumped, and never again")
    func stamps() {
        let (ships, marks, other) = (VersionCounter(), VersionCounter(), VersionCounter())
        let changeToken = ChangeToken(of: ships).and(ChangeToken(of: marks))
        other.bump()
        #expect(changeToken.holds(at: start))
        marks.bump()
        #expect(!changeToken.holds(at: start))
        #expect(ChangeToken(of: ships, marks).holds(at: start), "one that is taken afterwards holds")
    }

    @Test("It ends at the earlier deadline of two, to the nanosecond")
    func deadlines() {
        let changeToken = ChangeToken(until: start + .seconds(5)).and(ChangeToken(until: start + .seconds(3))).and(
            .unlimited
        )
        #expect(changeToken.holds(at: start + .seconds(3) - .nanoseconds(1)))
        #expect(!changeToken.holds(at: start + .seconds(3)))
    }

    @Test("A key has one stamp as long as it is kept, and shares it with no other")
    func keys() {
        let stamps = VersionCounters()
        let kept = (0..<10_000).map { stamps["account \($0)"] }
        #expect(Set(kept.map { ObjectIdentifier($0) }).count == 10_000)
        #expect((0..<10_000).allSatisfy { stamps["account \($0)"] === kept[$0] })
    }

    @Test("TRUST-21 A change of one key ends the tokens of that key, and of no other")
    func oneKey() {
        let stamps = VersionCounters()
        let tokens = (0..<10_000).map { ChangeToken(of: stamps[$0]) }
        stamps[17].bump()
        stamps[10_001].bump()
        #expect(tokens.indices.filter { !tokens[$0].holds(at: start) } == [17])
        stamps.bumpAll()
        #expect(tokens.allSatisfy { !$0.holds(at: start) })
    }

    @Test("Stamps that no token has are forgotten; those of a token never are")
    func forgotten() {
        let stamps = VersionCounters()
        let token = ChangeToken(of: stamps["kept"])
        for number in 0..<100_000 { stamps[number].bump() }
        #expect(stamps.count <= 1024)
        #expect(token.holds(at: start))
        stamps["kept"].bump()
        #expect(!token.holds(at: start))
    }

    @Test("SRV-05 Age and remaining freshness run on with the clock, into the negative")
    func age() {
        let age = RunningAge(seconds: 2.25, timeToLive: 3, at: start)
        #expect(age.seconds(at: start) == 2 && age.timeToLive(at: start) == 3)
        #expect(age.seconds(at: start + .milliseconds(749)) == 2)
        #expect(age.seconds(at: start + .milliseconds(750)) == 3 && age.timeToLive(at: start + .milliseconds(750)) == 2)
        #expect(age.timeToLive(at: start + .seconds(10)) == -7)
    }

    @Test("Uses are reported at once, then once in ten seconds, whichever of the cached responses is used")
    func uses() {
        let notes = Watched(0)
        let changeToken = ChangeToken.unlimited.noting(AccessReporter { notes.update { $0 += 1 } })
        for second in 0..<25 { changeToken.and(.unlimited).noteUse(at: start + .seconds(Int64(second))) }
        #expect(notes.value == 3)
    }

    @Test("Ages that a clock set back makes negative are none; those of the bundled copy are long")
    func oddAges() {
        #expect(RunningAge(seconds: -5, timeToLive: 5, at: start).seconds(at: start) == 0)
        let bundled = RunningAge(seconds: 80_000_000.5, timeToLive: -80_000_000, at: start)
        #expect(
            bundled.seconds(at: start + .seconds(1)) == 80_000_001
                && bundled.timeToLive(at: start + .seconds(1)) == -80_000_001
        )
    }
}
