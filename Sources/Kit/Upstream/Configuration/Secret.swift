/// A text that nobody shall read by accident: descriptions and mirrors, such as a library's log of the services that it
/// runs, show that there is one, not what it is.
public struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself.
    public let value: String

    /// Keeps a text.
    public init(_ value: String) {
        self.value = value
    }

    /// Whether there is none.
    public var isEmpty: Bool { value.isEmpty }

    /// Not the text.
    public var description: String { isEmpty ? "none" : "a secret" }

    /// Not the text.
    public var debugDescription: String { description }

    /// Without the text.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
