/// A text that must not appear in logs by accident: its description and mirror, which a library may log, do not contain
/// it.
public struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text.
    public let value: String

    /// Wraps a text.
    public init(_ value: String) {
        self.value = value
    }

    /// Whether the text is empty.
    public var isEmpty: Bool { value.isEmpty }

    /// A placeholder for the text.
    public var description: String { isEmpty ? "none" : "a secret" }

    /// A placeholder for the text.
    public var debugDescription: String { description }

    /// A mirror without the text.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
