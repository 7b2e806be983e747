/// JSON Patch (RFC 6902).
package struct JSONPatch: Sendable, Equatable {
    /// Why a patch cannot be read or applied.
    package struct Defect: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    private enum Kind: String, Sendable, CaseIterable { case add, remove, replace, move, copy, test }

    private struct Operation: Sendable, Equatable {
        let kind: Kind
        let path: JSONPointer
        let from: JSONPointer?
        let value: JSONValue?
    }

    private let operations: [Operation]

    /// Reads `[{"op":"replace","path":"/a/0","value":1}]`.
    /// - Throws: ``Defect``.
    package init(_ value: JSONValue) throws(Defect) {
        guard let values = value.array else { throw Defect(description: "a list of operations is expected") }
        var operations: [Operation] = []
        for item in values { operations.append(try Self.operation(item)) }
        self.operations = operations
    }

    private static func operation(_ value: JSONValue) throws(Defect) -> Operation {
        guard let object = value.object, let kind = object["op"]?.string.flatMap(Kind.init(rawValue:)) else {
            let accepted = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw Defect(description: "\(value.excerpt) has no op; accepted: \(accepted)")
        }
        guard let path = object["path"]?.string.flatMap(JSONPointer.init) else {
            throw Defect(description: "\(value.excerpt) has no path, such as /name")
        }
        let from = object["from"]?.string.flatMap(JSONPointer.init)
        if kind == .move || kind == .copy, from == nil {
            throw Defect(description: "\(kind.rawValue) \(path) has no from")
        }
        if [.add, .replace, .test].contains(kind), object["value"] == nil {
            throw Defect(description: "\(kind.rawValue) \(path) has no value")
        }
        return Operation(kind: kind, path: path, from: from, value: object["value"])
    }

    /// Returns a value with all operations done, one after the other.
    /// - Throws: ``Defect`` if one of them does not fit.
    package func applied(to value: JSONValue) throws(Defect) -> JSONValue {
        var value = value
        for operation in operations { try Self.apply(operation, to: &value) }
        return value
    }

    private static func apply(_ operation: Operation, to value: inout JSONValue) throws(Defect) {
        let path = operation.path.tokens[...]
        switch operation.kind {
        case .add: try value.set(path, to: operation.value, isNew: true)
        case .remove: try value.set(path, to: nil, isNew: false)
        case .replace: try value.set(path, to: operation.value, isNew: false)
        case .move, .copy:
            let from = operation.from?.tokens ?? []
            guard let moved = value.value(at: from) else { throw JSONPatch.nothing(at: from[...]) }
            if operation.kind == .move { try value.set(from[...], to: nil, isNew: false) }
            try value.set(path, to: moved, isNew: true)
        case .test:
            guard let found = value.value(at: path), let expected = operation.value,
                expected.changes(to: found).isEmpty
            else { throw Defect(description: "test \(operation.path) fails") }
        }
    }

    fileprivate static func nothing(at path: ArraySlice<String>) -> Defect {
        Defect(description: "there is nothing at /\(path.joined(separator: "/"))")
    }
}

extension JSONValue {
    /// Sets, adds or removes the value at a place.
    fileprivate mutating func set(_ path: ArraySlice<String>, to new: JSONValue?, isNew: Bool) throws(JSONPatch.Defect)
    {
        guard let token = path.first else {
            self = new ?? .null
            return
        }
        let isLast = path.count == 1
        switch self {
        case .object(var object):
            if isLast {
                guard isNew || object[token] != nil else { throw JSONPatch.nothing(at: path) }
                object[token] = new
            } else {
                guard var member = object[token] else { throw JSONPatch.nothing(at: path) }
                try member.set(path.dropFirst(), to: new, isNew: isNew)
                object[token] = member
            }
            self = .object(object)
        case .array(var values):
            let index = token == "-" && isNew && isLast ? values.count : JSONPointer.index(token)
            guard let index, index < values.count || (isNew && isLast && index == values.count) else {
                throw JSONPatch.nothing(at: path)
            }
            if !isLast {
                try values[index].set(path.dropFirst(), to: new, isNew: isNew)
            } else if let new {
                if isNew { values.insert(new, at: index) } else { values[index] = new }
            } else {
                values.remove(at: index)
            }
            self = .array(values)
        default: throw JSONPatch.nothing(at: path)
        }
    }

    /// JSON Merge Patch (RFC 7396 section 2).
    /// - Parameter keeping: members that `null` sets to null instead of removing them.
    package func mergePatched(with patch: JSONValue, keeping kept: [String] = []) -> JSONValue {
        guard let patchObject = patch.object else { return patch }
        var result = object ?? JSONObject()
        for member in patchObject.members {
            if member.value == .null {
                result[member.name] = kept.contains(member.name) ? .null : nil
            } else {
                result[member.name] = (result[member.name] ?? .null).mergePatched(with: member.value)
            }
        }
        return .object(result)
    }
}
