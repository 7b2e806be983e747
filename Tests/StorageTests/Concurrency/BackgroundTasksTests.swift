import Concurrency
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct BackgroundTasksTests {
    private let tasks = BackgroundTasks()
    private let gate = Gate()

    @Test("SRV-07 A validation in the background leaves nothing behind when it has ended")
    func ends() async {
        for _ in 0..<3 { tasks.start { [gate] in await gate.pass() } }
        #expect(tasks.count == 3)
        gate.open()
        await BoundedWait.poll(for: "the end of the tasks") { tasks.count == 0 }
        tasks.stop()
        tasks.start {}
        #expect(tasks.count == 0)
    }

    @Test("Stopping cancels the tasks under way")
    func stop() async {
        let wasCancelled = Watched<Bool?>(nil)
        tasks.start { [gate] in
            await gate.pass()
            let isCancelled = Task.isCancelled
            wasCancelled.update { $0 = isCancelled }
        }
        await gate.arrivals(1)
        tasks.stop()
        await wasCancelled.until { $0 != nil }
        #expect(wasCancelled.value == true)
        #expect(tasks.count == 0)
    }
}
