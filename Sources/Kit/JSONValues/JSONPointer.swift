/// A place in a JSON value (RFC 6901).
package struct JSONPointer: Sendable, Equatable, CustomStringConvertible {
    package var tokens: [String]

    package init(tokens: [String] = []) { self.tokens = tokens }

    /// Reads a pointer; nil if it is none.
    package init?(_ text: String) {
        self.init()
        guard !text.isEmpty else { return }
        guard text.hasPrefix("/") else { return nil }
        tokens = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
            String($0).replacing("~1", with: "/").replacing("~0", with: "~")
        }
    }

    package var description: String { tokens.map { "/" + Self.escaped($0) }.joined() }

    /// Returns a name as part of a pointer.
    package static func escaped(_ name: String) -> String {
        name.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    package func appending(_ token: String) -> JSONPointer {
        var pointer = self
        pointer.tokens.append(token)
        return pointer
    }

    /// Returns an index of an array, without leading zeros; nil if a token is none.
    package static func index(_ token: String) -> Int? {
        guard let index = Int(token), index >= 0, String(index) == token else { return nil }
        return index
    }
}

extension JSONValue {
    /// Returns the value at a place; nil if there is none.
    package func value(at pointer: some Collection<String>) -> JSONValue? {
        guard let token = pointer.first else { return self }
        switch self {
        case .object(let object): return object[token]?.value(at: pointer.dropFirst())
        case .array(let values):
            guard let index = JSONPointer.index(token), values.indices.contains(index) else { return nil }
            return values[index].value(at: pointer.dropFirst())
        default: return nil
        }
    }

    /// Returns the value at a JSON pointer; nil if there is none, or the text is no pointer.
    package func value(at pointer: String) -> JSONValue? { JSONPointer(pointer).flatMap { value(at: $0.tokens) } }

    /// Whether another one is the same value: the order of members and the spelling of numbers do not matter.
    package func isSame(as other: JSONValue) -> Bool { changes(to: other).isEmpty }

    /// One difference between two values.
    package struct Change: Sendable, Equatable {
        package enum Kind: String, Sendable { case changed, missing, new }

        package let pointer: JSONPointer
        package let kind: Kind
        /// The old value as JSON; empty for a new one.
        package let old: String
        /// The new value; empty for a missing one.
        package let new: String
    }

    /// Returns the differences of another value from this one: changed, missing and new members.
    package func changes(to other: JSONValue, at pointer: JSONPointer = JSONPointer()) -> [Change] {
        switch (self, other) {
        case (.object(let object), .object(let otherObject)):
            let names = object.members.map(\.name)
            let further = otherObject.members.map(\.name).filter { !names.contains($0) }
            return (names + further).flatMap { name in
                Self.changes(from: object[name], to: otherObject[name], at: pointer.appending(name))
            }
        case (.array(let values), .array(let others)):
            return (0..<max(values.count, others.count)).flatMap { index in
                Self.changes(
                    // Not nil, which is a JSON value as well.
                    from: values.indices.contains(index) ? Optional(values[index]) : .none,
                    to: others.indices.contains(index) ? Optional(others[index]) : .none,
                    at: pointer.appending(String(index))
                )
            }
        case _ where self == other || (double != nil && double == other.double): return []
        default: return [Change(pointer: pointer, kind: .changed, old: excerpt, new: other.excerpt)]
        }
    }

    private static func changes(from old: JSONValue?, to new: JSONValue?, at pointer: JSONPointer) -> [Change] {
        switch (old, new) {
        case (let old?, let new?): old.changes(to: new, at: pointer)
        case (let old?, nil): [Change(pointer: pointer, kind: .missing, old: old.excerpt, new: "")]
        case (nil, let new?): [Change(pointer: pointer, kind: .new, old: "", new: new.excerpt)]
        case (nil, nil): []
        }
    }
}
