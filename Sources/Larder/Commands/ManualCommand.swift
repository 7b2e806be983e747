import ArgumentParser
import Foundation

/// `larder manual`: writes the manual pages. For packages, so that it is not in the help.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Write the manual pages of all commands to a directory.",
        shouldDisplay: false
    )

    @Argument(help: ArgumentHelp("A directory, which is made if it is missing.", valueName: "directory"))
    var directory: String

    func run() throws {
        let folder = URL(filePath: directory, directoryHint: .isDirectory)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for command in try CommandDescription.of(LarderCommand.self).all {
                let page = ManualPage(command: command, version: LarderVersion.text)
                try Data(page.text.utf8).write(to: folder.appending(path: "\(page.name).1"))
            }
        } catch let error as CocoaError {
            StandardError.write("larder: \(error.localizedDescription)\n")
            throw ExitCode.failure
        }
    }
}
