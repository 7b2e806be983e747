import ArgumentParser
import Foundation
import Sandbox

/// `larder gallery DIR`: writes every state of every screen to files, for those who design or review them.
struct GalleryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gallery",
        abstract: "Write every state of every screen to a folder, with an index page.",
        usage: "larder gallery DIR [--matrix <conditions>] [--screenshot] [<settings> ...]",
        discussion: """
            The screens are those of the contract, the states: new (nothing is
            stored yet), fresh, and each condition with old stored data and
            without any. DIR/SCREEN/STATE.json has the URL and the response,
            DIR/index.html all of them in a table. --screenshot adds pictures of
            the pages, for which there is a Chromium on the path.

            EXAMPLES
              larder gallery ./gallery
              larder gallery ./gallery --screenshot
              larder gallery ./gallery --matrix 'offline,error(503, 9)'

            \(SettingsOptions.help)
            """
    )

    @Option(name: .long, help: ArgumentHelp("The conditions, as of larder exec.", valueName: "conditions"))
    var matrix = "offline,slow,401,500"

    @Flag(name: .long, help: "Take pictures of the pages by Chromium.")
    var screenshot = false

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        var options = options
        let operands = options.takeOperands()
        guard operands.count == 1, let path = operands.first else {
            throw ExitCode.reporting("one folder is expected, such as larder gallery ./gallery", .validationFailure)
        }
        let states = GalleryState.all(under: try ExecCommand.conditions(of: matrix))
        guard Set(states.map(\.name)).count == states.count else {
            throw ExitCode.reporting("--matrix: two conditions have the same name of a file", .validationFailure)
        }
        let folder = URL.temporaryDirectory.appending(path: "larder-gallery-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = try options.loadTemporary(standardData: folder, alwaysFor: "a gallery")
        let browser = screenshot ? Chromium(profiles: folder) : nil
        guard !screenshot || browser != nil else {
            throw ExitCode.reporting("--screenshot: there is no Chromium on the path")
        }
        let gallery = GalleryRun(
            screens: GalleryScreen.all(in: try configuration.apps.contract().root),
            states: states,
            folder: URL(filePath: path, directoryHint: .isDirectory),
            browser: browser
        )
        try await ServedProcess(configuration, during: gallery.run).run()
        guard let index = gallery.index else { throw ExitCode.failure }
        StandardOutput.write("\(index.summary): \(path)/index.html\n")
    }
}

/// A state in which all screens are shown.
struct GalleryState: Sendable, Equatable {
    /// `fresh`, `offline`, `offline-new`: the name of files.
    let name: String
    /// Nil for none.
    var condition: HarnessCondition?
    /// Whether all screens were read before.
    let isFilled: Bool

    /// The states without a condition, and under each one.
    static func all(under conditions: [HarnessCondition]) -> [GalleryState] {
        let plain = [GalleryState(name: "new", isFilled: false), GalleryState(name: "fresh", isFilled: true)]
        return conditions.reduce(into: plain) { states, condition in
            let name = GalleryIndex.fileName(condition.text)
            states.append(GalleryState(name: name, condition: condition, isFilled: true))
            states.append(GalleryState(name: "\(name)-new", condition: condition, isFilled: false))
        }
    }
}

/// A headless Chromium.
struct Chromium: Sendable {
    private static let names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]

    /// Longest time for a picture.
    private static let patience: Duration = .seconds(60)

    private let program: String
    private let profiles: URL

    /// Searches for Chromium in `PATH`; nil if it is not installed.
    ///
    /// - Parameter profiles: A folder for its own files.
    init?(profiles: URL) {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let programs = Self.names.flatMap { name in folders.map { "\($0)/\(name)" } }
        guard let program = programs.first(where: FileManager.default.isExecutableFile) else { return nil }
        (self.program, self.profiles) = (program, profiles)
    }

    /// Takes a picture of a page after its scripts have become idle.
    ///
    /// - Returns: Whether there is one.
    /// - Throws: ``CommandProcess/NotStarted``.
    func picture(of url: String, at file: URL) async throws -> Bool {
        // The file of an earlier gallery, if there is one.
        try? FileManager.default.removeItem(at: file)
        let profile = profiles.appending(path: "chromium-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: profile, withIntermediateDirectories: true)
        // If the removal fails, the folder is removed later with the folder of all profiles.
        defer { try? FileManager.default.removeItem(at: profile) }
        // Chromium does not start as root with its own sandbox.
        let free = geteuid() == 0 ? ["--no-sandbox"] : []
        let process = try CommandProcess(
            [program, "--headless", "--disable-gpu", "--hide-scrollbars"] + free + [
                "--user-data-dir=\(profile.path)", "--window-size=1280,800", "--virtual-time-budget=10000",
                "--screenshot=\(file.path)", url,
            ],
            environment: ProcessInfo.processInfo.environment,
            output: profile.appending(path: "output")
        )
        let limit = Task {
            // Cancelled if the process has ended before.
            try await Task.sleep(for: Self.patience)
            process.signal(SIGKILL)
        }
        defer { limit.cancel() }
        return await process.endedWithServer() == 0 && FileManager.default.fileExists(atPath: file.path)
    }
}
