import Testing

@testable import Cluster

@Suite struct ServerErrorTests {
    @Test(
        "A code of the server says whether to repeat, to try later, or to give up",
        arguments: [
            ("40001", ClusterError.unavailable(.contended)), ("40P01", .unavailable(.contended)),
            ("23505", .notUnique(constraint: "c")), ("53100", .diskFull),
            ("57014", .unavailable(.timedOut)), ("55P03", .unavailable(.timedOut)), ("25P03", .unavailable(.timedOut)),
            ("25006", .unavailable(.notAccepting)), ("53300", .unavailable(.notAccepting)),
            ("57P01", .unavailable(.connectionLost)), ("08006", .unavailable(.connectionLost)),
        ]
    )
    func meaning(code: String, meaning: ClusterError) {
        #expect(ServerError(code: code, constraint: "c").meaning == meaning)
    }

    @Test("What is not known is refused, with the server's sentence")
    func refused() {
        let error = ServerError(code: "42P01", message: "relation \"x\" does not exist")
        #expect(error.meaning == .refused(error))
        #expect("\(ClusterError.refused(error))".hasSuffix("SQLSTATE 42P01: relation \"x\" does not exist."))
    }

    @Test("Sentences that quote values are left out", arguments: ["22P02", "23514"])
    func quotes(code: String) {
        let error = ServerError(code: code, constraint: "positive", message: "invalid input: \"secret\"")
        #expect("\(error)" == "SQLSTATE \(code), positive")
    }

    @Test("Only errors of the checks before a commit say that nothing was committed")
    func commits() {
        for code in ["23505", "40001", "22003"] { #expect(ServerError(code: code).precedesCommit) }
        for code in ["57P01", "08006", "XX000", "58030"] { #expect(!ServerError(code: code).precedesCommit) }
    }
}
