import Testing

@testable import Larder

@Suite struct CommandNamesTests {
    @Test(
        "SRV-13 for a word in place of a command the likely command is suggested",
        arguments: [
            ("SERVE", "there is no command larder SERVE; did you mean larder serve?"),
            ("version", "there is no command larder version; did you mean larder --version?"),
            ("help serv", "there is no command larder serv; did you mean larder serve?"),
            ("--sandbox", "a command comes before --sandbox, such as larder serve --sandbox"),
            ("--http-port=1", "a command comes before --http-port=1, such as larder serve --http-port=1"),
            ("--hlep", "a command comes before --hlep, or did you mean larder --help?"),
            ("-v", "a command comes before -v, such as larder serve -v"),
        ]
    )
    func faults(line: String, expected: String) {
        let arguments = line.split(separator: " ").map(String.init)
        #expect(CommandNames.fault(in: arguments, of: LarderCommand.self) == expected)
    }

    @Test(
        "What is a command, or needs none, is left to its parser",
        arguments: ["", "help", "help cache purge", "-h", "--help", "--version", "cache list --nope", "serve serv"]
    )
    func known(line: String) {
        #expect(CommandNames.fault(in: line.split(separator: " ").map(String.init), of: LarderCommand.self) == nil)
    }
}
