import Foundation
import Logging
import NIOCore
import NIOPosix

/// The port that the sandbox had with a data directory. What is stored is known by the address that it came from, so
/// the sandbox goes back to it: with another one, nothing that was cached before a restart would be found after it.
struct SandboxPort {
    private let file: URL

    init(in dataDirectory: URL) {
        file = dataDirectory.appending(path: "sandbox.port")
    }

    /// The port of the last time; 0, any free one, where there was none or somebody else has it now.
    func last() async -> Int {
        guard let text = try? String(contentsOf: file, encoding: .utf8),
            let port = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)),
            (1...65535).contains(port), await Self.isFree(port)
        else { return 0 }
        return port
    }

    /// Notes the port for the next time. Without it, only what is stored is not found.
    func note(_ port: Int, logger: Logger) {
        do {
            try Data("\(port)\n".utf8).write(to: file, options: .atomic)
        } catch {
            logger.warning(
                "the sandbox's port could not be noted: its next one may be another",
                metadata: ["error": "\(error)"]
            )
        }
    }

    private static func isFree(_ port: Int) async -> Bool {
        do {
            let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).serverChannelOption(
                .socketOption(.so_reuseaddr),
                value: 1
            )
            try await bootstrap.bind(host: "127.0.0.1", port: port).get().close()
            return true
        } catch {
            return false
        }
    }
}
