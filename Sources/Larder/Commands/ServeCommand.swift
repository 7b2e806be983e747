import ArgumentParser
import Foundation
import ServiceLifecycle

/// `larder serve`: runs the server.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the apps.",
        discussion: """
            EXAMPLES
              larder serve --sandbox
              larder serve --http-port 8081 --data-directory ./data
              larder serve --freshness-ships-s 0
              larder serve --upstreams-spacex-url http://127.0.0.1:9000/spacex

            \(SettingsOptions.help)
            """
    )

    @Flag(name: .long, help: "Simulate the upstreams in this process and use them instead of the real ones.")
    var sandbox = false

    @Flag(name: .long, help: "Let tests control this process: reset it, set its clock (docs/harness.md).")
    var harness = false

    @Flag(name: .long, help: "Stop when standard input ends, with the program that started this one.")
    var stopWithStdin = false

    @Option(
        name: .customLong("import"),
        help: .init("Begin with the archive of a snapshot, in a new data directory.", valueName: "file")
    )
    var importPath: String?

    @Option(
        name: .customLong("export-on-exit"),
        help: .init("Write the archive of everything when the server stops.", valueName: "file")
    )
    var exportPath: String?

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        var configuration = try options.load(sandbox: sandbox, harness: harness)
        configuration.isDurable = !harness
        let process = ServedProcess(
            configuration: configuration,
            simulatesUpstreams: sandbox,
            isHarness: harness,
            companion: stopWithStdin ? StandardInputEnd() : nil,
            importPath: importPath,
            exportPath: exportPath
        )
        try await process.run()
    }
}

/// Ends when standard input ends, so that the server stops with the program that started it, even if that was killed.
struct StandardInputEnd: Service {
    func run() async throws {
        let (end, continuation) = AsyncStream.makeStream(of: Void.self)
        // Reading blocks, so it has a thread of its own. The thread is abandoned if the server stops before.
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
