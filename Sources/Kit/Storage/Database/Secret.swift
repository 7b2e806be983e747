/// A text that must not appear in logs by accident: its description and mirror, which a library may log, do not contain
/// it.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package let value: String

    package init(_ value: String) {
        self.value = value
    }

    /// Whether the text is empty.
    package var isEmpty: Bool { value.isEmpty }

    /// A placeholder for the text.
    package var description: String { isEmpty ? "none" : "a secret" }

    /// A placeholder for the text.
    package var debugDescription: String { description }

    /// A mirror without the text.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
