import NIOCore
import NIOEmbedded
import Testing

@testable import Server

struct DeadlineTimerTests {
    /// Uses its timer like a connection: it has a deadline or none, and arms the timer again when that fires.
    private final class Owner {
        let eventLoop = EmbeddedEventLoop()
        var timer = DeadlineTimer()
        var deadline: NIODeadline?
        var checks: [NIODeadline] = []

        func arm() {
            timer.arm(deadline, on: eventLoop) {
                self.timer.fired()
                self.checks.append(self.eventLoop.now)
                self.arm()
            }
        }
    }

    private func seconds(_ count: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(count) }

    @Test("the timer fires at the first of its deadlines, and checks again at a later one")
    func deadlines() {
        let owner = Owner()
        owner.deadline = seconds(10)
        owner.arm()
        owner.deadline = seconds(4)
        owner.arm()
        owner.deadline = seconds(7)
        owner.arm()
        owner.eventLoop.advanceTime(to: seconds(5))
        #expect(owner.checks == [seconds(4)], "a later deadline schedules nothing by itself")
        owner.deadline = nil
        owner.eventLoop.advanceTime(to: seconds(20))
        #expect(owner.checks == [seconds(4), seconds(7)])
    }

    @Test("without a deadline, and after its end, the timer does not fire")
    func none() {
        let owner = Owner()
        owner.arm()
        owner.deadline = seconds(1)
        owner.arm()
        owner.timer.cancel()
        owner.eventLoop.advanceTime(to: seconds(5))
        #expect(owner.checks.isEmpty)
        owner.deadline = seconds(6)
        owner.arm()
        owner.deadline = nil
        owner.eventLoop.advanceTime(to: seconds(6))
        #expect(owner.checks == [seconds(6)], "it can be armed again")
    }
}
