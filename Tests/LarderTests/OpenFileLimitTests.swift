import Testing

@testable import Larder

/// How many clients a limit of open files leaves room for.
struct OpenFileLimitTests {
    @Test(
        "TRUST-09 clients cannot take all descriptors: 128, or three quarters of few, are for everything else",
        arguments: [
            (1024, 1_048_576, 1024), (1024, 1024, 896), (1024, 256, 128), (1024, 128, 32), (1024, 40, 10),
            (50, 256, 50), (100, 2, 1),
        ]
    )
    func connections(wanted: Int, files: Int, expected: Int) {
        #expect(OpenFileLimit.connections(wanted, files: files) == expected)
    }

    @Test("without a limit, all that are wanted")
    func unlimited() {
        #expect(OpenFileLimit.connections(1024, files: nil) == 1024)
        #expect(OpenFileLimit.connections(1024, files: .max) == 1024)
    }
}
