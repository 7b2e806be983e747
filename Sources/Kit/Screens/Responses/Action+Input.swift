extension Action {
    /// A constant member of the JSON body of the request.
    public enum Constant: Encodable, Sendable, Equatable {
        case integer(Int)
        case text(String)

        /// Writes the value itself.
        ///
        /// - Throws: What the encoder throws.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .integer(let value): try container.encode(value)
            case .text(let value): try container.encode(value)
            }
        }

        func write(to json: inout JSONWriter) {
            switch self {
            case .integer(let value): json.value(value)
            case .text(let value): json.value(value)
            }
        }
    }

    /// A member of the body that the user fills in.
    public struct Field: Encodable, Sendable, Equatable {
        /// What is to be filled in.
        public enum Kind: String, Encodable, Sendable {
            case text, integer
            /// An object of `lat`, `lon` and `name`.
            case location
            /// The id of a document.
            case document
            /// Ids of pages of the document, in the order that they are to have.
            case pages
            /// Files, as parts of a form.
            case files
        }

        /// Its name.
        public let name: String
        /// What is to be filled in.
        public let kind: Kind
        /// What it is filled with at first, or null.
        @Nullable public var value: String?
        /// Whether the request is refused without it.
        public let required: Bool

        /// Describes a member.
        public init(_ name: String, _ kind: Kind, value: String? = nil, required: Bool = true) {
            self.name = name
            self.kind = kind
            _value = Nullable(wrappedValue: value)
            self.required = required
        }
    }
}

extension Action.Field: JSONWritable {
    /// Writes the members in order.
    public func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("kind", kind.rawValue)
        json.member("name", name)
        json.member("required", required)
        json.member("value", value)
        json.endObject()
    }
}
