/// How requests of the server to an upstream are treated.
package enum FixtureMode: String, Sendable, CaseIterable {
    /// They go out.
    case live
    /// They go out, and each exchange is written into a file.
    case record
    /// They are responded to from files only; nothing goes out.
    case replay
    /// They are responded to from files; what has none goes out and is recorded.
    case spy
    /// They go out, and their responses are changed by the patches of the folder.
    case modify
    /// They go out, and their responses are compared with the files.
    case diff

    /// Whether what goes out is sent so that a file can be made of the response: complete, and not compressed.
    package var asksPlainly: Bool { self == .record || self == .spy || self == .modify || self == .diff }
}
