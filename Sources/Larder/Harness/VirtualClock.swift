import Concurrency
import Foundation
import Synchronization

/// The clock of a server under test. It follows another clock until it is set. It can be stopped, and it runs due work
/// when it is advanced.
final class VirtualClock: Sendable {
    /// Longest time that an advance waits for due work, such as a probe of a slow upstream.
    static let longestWork: Duration = .seconds(10)

    private struct Pending {
        let due: Date
        /// Nil until the task of the timer has begun.
        var waiter: CheckedContinuation<Bool, Never>?
        /// Fires in real time while the clock runs.
        var alarm: Task<Void, Never>?
    }

    private struct State {
        /// The time that it shows at the time `origin` of the other clock.
        var shown = Date(timeIntervalSince1970: 0)
        var origin = Date(timeIntervalSince1970: 0)
        var isFrozen = false
        /// Timers that are not due yet.
        var timers: [Int: Pending] = [:]
        /// Timers that are due, until their work has ended. Each has a continuation that is finished then.
        var working: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastNumber = 0

        func time(at real: Date) -> Date { isFrozen ? shown : shown + real.timeIntervalSince(origin) }
    }

    /// The clock that it follows.
    let real: WallClock
    private let start: Date?
    private let startsFrozen: Bool
    private let isSet = Atomic(false)
    private let state = Mutex(State())

    /// - Parameters:
    ///   - real: The clock whose time it shows until it is set.
    ///   - start: The first time that it shows, if that differs.
    ///   - isFrozen: Whether it is stopped at first.
    init(_ real: WallClock, start: Date? = nil, isFrozen: Bool = false) {
        (self.real, self.start, startsFrozen) = (real, start, isFrozen)
        begin()
    }

    var now: Date {
        let real = real.now()
        return isSet.load(ordering: .acquiring) ? state.withLock { $0.time(at: real) } : real
    }

    var isFrozen: Bool { state.withLock { $0.isFrozen } }

    /// Whether it was set or stopped since it last showed the time of the clock that it was made from.
    var isShifted: Bool { isSet.load(ordering: .acquiring) || real.testTime != nil }

    /// The clock in the form for the server.
    var wallClock: WallClock {
        WallClock(
            now: { self.now },
            sleep: real.sleep,
            timer: { span, work in self.schedule(after: span, work) },
            isFrozen: { self.isFrozen },
            isSet: { self.isShifted }
        )
    }

    /// Sets the clock and runs due work before it returns.
    ///
    /// - Returns: false, with nothing changed, if the time is before the one that it shows.
    func set(_ time: Date? = nil, frozen: Bool? = nil) async -> Bool {
        await show(frozen: frozen) { now in
            if let time, time < now { nil } else { time ?? now }
        }
    }

    /// Advances the clock and runs due work before it returns.
    func advance(by seconds: Double) async { _ = await show { $0.addingTimeInterval(seconds) } }

    /// - Parameter time: Returns the new time; nil for no change.
    private func show(frozen: Bool? = nil, _ time: (Date) -> Date?) async -> Bool {
        let real = real.now()
        let isAccepted = state.withLock { state in
            let isSet = isSet.load(ordering: .acquiring)
            guard let time = time(isSet ? state.time(at: real) : real) else { return false }
            // A clock that shows the real time, and is to go on, is not set.
            if !isSet, time == real, frozen != true { return true }
            (state.shown, state.origin) = (time, real)
            if let frozen { state.isFrozen = frozen }
            self.isSet.store(true, ordering: .releasing)
            return true
        }
        if isAccepted { await doWhatIsDue() }
        return isAccepted
    }

    /// The state of a clock at a moment.
    struct Reading: Sendable, Codable {
        /// Nil for a clock that was never set and shows the time of the clock that it follows.
        fileprivate let shown: Date?
        fileprivate let isFrozen: Bool

        /// The state of a clock that was never set.
        static let real = Reading(shown: nil, isFrozen: false)
    }

    var reading: Reading {
        let shown = now
        let isFrozen = isFrozen
        return Reading(shown: isSet.load(ordering: .acquiring) ? shown : nil, isFrozen: isFrozen)
    }

    func restore(_ reading: Reading) {
        let real = real.now()
        state.withLock { state in
            (state.shown, state.origin, state.isFrozen) = (reading.shown ?? real, real, reading.isFrozen)
            isSet.store(reading.shown != nil, ordering: .releasing)
        }
        changed()
    }

    /// Returns to the time at the start.
    func reset() {
        begin()
        changed()
    }

    private func begin() {
        let real = real.now()
        state.withLock { state in
            (state.shown, state.origin, state.isFrozen) = (start ?? real, real, startsFrozen)
            isSet.store(start != nil || startsFrozen, ordering: .releasing)
        }
    }
}

// Work that is due at a time.
extension VirtualClock {
    private func schedule(after span: Duration, _ work: @escaping @Sendable () async -> Void) -> Task<Void, any Error> {
        let now = self.now
        // The timer is registered before the task begins, so that the alarm of a request exists when the request has
        // ended.
        let number = state.withLock { state in
            state.lastNumber += 1
            state.timers[state.lastNumber] = Pending(due: now.addingTimeInterval(span.seconds))
            return state.lastNumber
        }
        setAlarm(number)
        return Task {
            let isDue = await withTaskCancellationHandler {
                await withCheckedContinuation { self.wait(for: number, $0) }
            } onCancel: {
                self.remove(number)?.waiter?.resume(returning: false)
            }
            guard isDue else { throw CancellationError() }
            await work()
            self.ended(number)
        }
    }

    private func wait(for number: Int, _ waiter: CheckedContinuation<Bool, Never>) {
        let isDue = state.withLock { state -> Bool? in
            if state.working[number] != nil { return true }
            guard state.timers[number] != nil else { return false }  // cancelled
            state.timers[number]?.waiter = waiter
            return nil
        }
        if let isDue { waiter.resume(returning: isDue) }
    }

    private func remove(_ number: Int) -> Pending? {
        let timer = state.withLock { $0.timers.removeValue(forKey: number) }
        timer?.alarm?.cancel()
        return timer
    }

    /// Returns the numbers of the due timers, in the order of their times and then of their creation.
    private var due: [Int] {
        let now = self.now
        let due = state.withLock { $0.timers.filter { $0.value.due <= now } }
        return due.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }.map(\.key)
    }

    /// Begins the work of a timer.
    ///
    /// - Returns: A stream that ends with the work; nil if the timer was cancelled or has begun.
    @discardableResult
    private func fire(_ number: Int) -> AsyncStream<Void>? {
        let (end, continuation) = AsyncStream.makeStream(of: Void.self)
        let timer = state.withLock { state in
            let timer = state.timers.removeValue(forKey: number)
            if timer != nil { state.working[number] = continuation }
            return timer
        }
        timer?.alarm?.cancel()
        timer?.waiter?.resume(returning: true)
        return timer == nil ? nil : end
    }

    /// Sets the alarm of a timer, in place of an earlier one; none if the clock is stopped.
    private func setAlarm(_ number: Int) {
        let now = self.now
        state.withLock { state in
            guard let timer = state.timers[number] else { return }
            timer.alarm?.cancel()
            state.timers[number]?.alarm =
                state.isFrozen
                ? nil
                : Task { [weak self, real] in
                    // A cancelled alarm was replaced, or its timer has ended.
                    do { try await real.sleep(.seconds(max(0.001, timer.due.timeIntervalSince(now)))) } catch { return }
                    for number in self?.due ?? [] { self?.fire(number) }
                    // Two clocks may differ by microseconds. An alarm that fires too early is set again.
                    self?.setAlarm(number)
                }
        }
    }

    private func ended(_ number: Int) { state.withLock { $0.working.removeValue(forKey: number) }?.finish() }

    /// Sets the alarms of work that is not due yet.
    private func setAlarms() {
        for number in state.withLock({ Array($0.timers.keys) }) { setAlarm(number) }
    }

    /// Begins due work, and sets the alarms of the other work.
    private func changed() {
        for number in due { fire(number) }
        setAlarms()
    }

    /// Runs due work one after the other, so that equal runs send the same requests in the same order.
    private func doWhatIsDue() async {
        let due = self.due
        setAlarms()
        guard !due.isEmpty else { return }
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        Task {
            for number in due {
                if let end = self.fire(number) { for await _ in end {} }
            }
            continuation.finish()
        }
        let limit = Task { [real] in
            // Cancelled if all work has ended before.
            try? await real.sleep(Self.longestWork)
            continuation.finish()
        }
        for await _ in ends {}
        limit.cancel()
    }
}
