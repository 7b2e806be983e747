import Logging
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(10))) struct StopDeadlineTests {
    @Test("SRV-03 A process whose work ignores its cancellation ends in order, and says so")
    func ends() async {
        let (ended, source) = AsyncStream.makeStream(of: String.self)
        let logger = Logger(label: "test") { label in
            LarderLogHandler(label: label, format: .text, level: .info) { source.yield($0) }
        }
        StopDeadline(timeout: .milliseconds(1), logger: logger, end: { source.finish() }).begin()
        var lines: [String] = []
        for await line in ended { lines.append(line) }
        #expect(lines.count == 1 && lines[0].contains("the process ends without it"))
    }
}
