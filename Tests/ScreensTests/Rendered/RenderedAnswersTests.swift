import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Testing
import Upstream

@testable import Screens

@Suite("The store of kept answers") struct RenderedAnswersTests {
    private static let now = NIODeadline.uptimeNanoseconds(1)

    private static func store(budget: Int, entries: Int = 65_536) -> RenderedAnswers {
        RenderedAnswers(
            budgetBytes: budget,
            entries: entries,
            run: "run",
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    private static let note: RenderingNote = {
        let labels = RequestLabels(method: .get, route: "/", status: 200)
        return RenderingNote(
            validity: .unlimited,
            record: RequestRecord(method: .get, path: "/", status: 200, measurements: RequestMeasurements(labels))
        )
    }()

    private static func key(_ number: Int) -> ByteBuffer {
        ByteBuffer(string: "GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
    }

    private static func bytes(_ count: Int) -> ByteBuffer {
        ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n" + String(repeating: "x", count: count))
    }

    @Test("SRV-11 Ten thousand different heads leave it within its budget")
    func budget() {
        let answers = Self.store(budget: 1 << 20)
        for number in 0..<10_000 {
            answers.keep(Self.bytes(4000), note: Self.note, for: Self.key(number), now: Self.now)
        }
        #expect(answers.size.bytes <= 1 << 20)
        #expect(answers.size.entries > 100)
    }

    @Test("SRV-11 The number of answers is bounded as well")
    func entries() {
        let answers = Self.store(budget: 64 << 20, entries: 800)
        for number in 0..<10_000 { answers.keep(Self.bytes(1), note: Self.note, for: Self.key(number), now: Self.now) }
        #expect(answers.size.entries <= 800)
    }

    @Test("What is used stays while what is not used goes")
    func leastRecentlyUsed() {
        let answers = Self.store(budget: 1 << 20)
        answers.keep(Self.bytes(4000), note: Self.note, for: Self.key(-1), now: Self.now)
        for number in 0..<3000 {
            #expect(answers.answer(to: Self.key(-1), now: Self.now) != nil)
            answers.keep(Self.bytes(4000), note: Self.note, for: Self.key(number), now: Self.now)
        }
        #expect(answers.answer(to: Self.key(0), now: Self.now) == nil)
        #expect(answers.answer(to: Self.key(2999), now: Self.now) != nil)
    }

    @Test("SRV-05 Nothing outlives a sleep of the machine, during which the clock of the event loops stands still")
    func sleep() {
        let slept = NIOLockedValueBox<Int64>(7)
        let sleep = SleepWatch(slept: { slept.withLockedValue(\.self) })
        let answers = RenderedAnswers(
            budgetBytes: 1 << 20,
            run: "run",
            sleep: sleep,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        for number in 0..<20 { answers.keep(Self.bytes(10), note: Self.note, for: Self.key(number), now: Self.now) }
        slept.withLockedValue { $0 += 400 }
        #expect(answers.answer(to: Self.key(1), now: Self.now) != nil)
        slept.withLockedValue { $0 += 3_600_000 }
        #expect(
            (0..<20).allSatisfy { answers.answer(to: Self.key($0), now: Self.now) == nil } && answers.size == (0, 0)
        )
        answers.keep(Self.bytes(10), note: Self.note, for: Self.key(1), now: Self.now)
        #expect(answers.answer(to: Self.key(1), now: Self.now) != nil)
    }

    @Test("One answer that is larger than the budget is not kept")
    func tooLarge() {
        let answers = Self.store(budget: 64 << 10)
        answers.keep(Self.bytes(60_000), note: Self.note, for: Self.key(1), now: Self.now)
        #expect(answers.size.bytes <= 64 << 10)
        #expect(answers.answer(to: Self.key(1), now: Self.now) == nil)
    }

    @Test("What does not hold any more gives its bytes back when it is asked for")
    func forgotten() {
        let (answers, stamp) = (Self.store(budget: 1 << 20), ChangeStamp())
        answers.keep(
            Self.bytes(4000),
            note: RenderingNote(validity: Validity(of: stamp), record: Self.note.record),
            for: Self.key(1),
            now: Self.now
        )
        stamp.bump()
        #expect(answers.answer(to: Self.key(1), now: Self.now) == nil)
        #expect(answers.size.bytes < 1000)
    }

    @Test("Answers whose clients have left are not waited for without end")
    func expected() {
        let answers = Self.store(budget: 1 << 20)
        let first = answers.expect(Self.note)
        var last = ""
        for _ in 0..<10_000 { last = answers.expect(Self.note) }
        #expect(answers.claim(first) == nil)
        #expect(answers.claim(last) != nil)
        #expect(answers.claim(last) == nil, "a mark is good once")
        #expect(answers.claim("forged") == nil)
    }

    @Test("A body that is shorter than its head says is not kept")
    func truncated() {
        let answers = Self.store(budget: 1 << 20)
        answers.keep(
            ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"),
            note: Self.note,
            for: Self.key(1),
            now: Self.now
        )
        #expect(answers.size.entries == 0)
    }
}
