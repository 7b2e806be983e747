import Foundation
import ServiceLifecycle

/// Ends when standard input does: with the program that started this one, however that ended.
struct StandardInputEnd: Service {
    func run() async throws {
        let (end, continuation) = AsyncStream.makeStream(of: Void.self)
        // A thread of its own: reading blocks. It is left behind if the server stops before.
        let thread = Thread {
            var bytes = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(STDIN_FILENO, &bytes, bytes.count)
                if count == 0 || (count < 0 && errno != EINTR) { break }
            }
            continuation.finish()
        }
        thread.start()
        for await _ in end.cancelOnGracefulShutdown() {}
    }
}
