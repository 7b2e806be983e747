import Settings
import Testing

@testable import Larder

@Suite struct CommandFlagsTests {
    /// Takes swift-argument-parser seconds in a debug build.
    private static let program = Result { try CommandDescription.of(LarderCommand.self) }

    @Test(
        "SRV-13 a flag that the command does not have is one of another command, or its nearest name is suggested",
        arguments: [
            ("doctor --sandbox", "--sandbox; did you mean larder serve --sandbox or larder backup --sandbox?"),
            ("cache list --harness", "there is no setting --harness; did you mean larder serve --harness?"),
            ("doctor --stop-with-stdin=x", "did you mean larder serve --stop-with-stdin?"),
            ("serve --junit", "there is no setting --junit; did you mean larder scenario run --junit?"),
            ("doctor --sandbx", "there is no setting --sandbx; larder serve --help lists all settings"),
            ("serve --port", "there is no setting --port; did you mean --http-port or --sandbox-port?"),
            ("serve --sandbx", "there is no setting --sandbx; did you mean --sandbox?"),
            ("serve --markdown", "did you mean larder sandbox --markdown or larder settings --markdown?"),
            ("doctor --confg", "did you mean --config?"),
        ]
    )
    func suggestions(line: String, expected: String) throws {
        let arguments = line.split(separator: " ").map(String.init)
        let commands = CommandFlags(arguments, of: try Self.program.get())
        let settings = arguments.filter { $0.hasPrefix("--") }
        #expect {
            try SettingsReader(arguments: settings, environment: [:], file: nil, commandFlags: { commands })
        } throws: { error in
            "\(error)".hasSuffix(expected)
        }
    }
}
