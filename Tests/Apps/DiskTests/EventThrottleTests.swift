import Foundation
import Testing

@testable import Disk

@Suite("Events of frequent changes")
struct EventThrottleTests {
    private static let start = Date(timeIntervalSince1970: 1_767_607_200)

    @Test("DISK-39 the first change is published at once, later ones once in a second, the last one always")
    func changes() {
        var throttle = EventThrottle(interval: 1)
        #expect(throttle.changed(at: Self.start) == .publish)
        #expect(throttle.changed(at: Self.start.addingTimeInterval(0.25)) == .wait(0.75))
        #expect(throttle.changed(at: Self.start.addingTimeInterval(0.5)) == .nothing)
        throttle.waited(at: Self.start.addingTimeInterval(1))
        #expect(throttle.changed(at: Self.start.addingTimeInterval(1.5)) == .wait(0.5))
        throttle.waited(at: Self.start.addingTimeInterval(2))
        #expect(throttle.changed(at: Self.start.addingTimeInterval(3)) == .publish)
    }

    @Test("a clock that is set back does not silence it")
    func clockSetBack() {
        var throttle = EventThrottle(interval: 1)
        #expect(throttle.changed(at: Self.start) == .publish)
        #expect(throttle.changed(at: Self.start.addingTimeInterval(-3600)) == .publish)
    }
}
