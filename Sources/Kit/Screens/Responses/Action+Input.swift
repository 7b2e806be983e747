extension Action {
    /// A constant member of the JSON body of the request.
    package enum Constant: Encodable, Sendable, Equatable {
        case integer(Int)
        case text(String)
        case boolean(Bool)
        case null

        /// Writes the value itself.
        ///
        /// - Throws: What the encoder throws.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .integer(let value): try container.encode(value)
            case .text(let value): try container.encode(value)
            case .boolean(let value): try container.encode(value)
            case .null: try container.encodeNil()
            }
        }

        func write(to json: inout JSONWriter) {
            switch self {
            case .integer(let value): json.value(value)
            case .text(let value): json.value(value)
            case .boolean(let value): json.value(value)
            case .null: json.null()
            }
        }
    }

    /// A member of the body that the user fills in.
    package struct Field: Encodable, Sendable, Equatable {
        /// What is to be filled in.
        package enum Kind: String, Encodable, Sendable {
            case text, integer, number, boolean, password
            /// An object of `lat`, `lon` and `name`.
            case location
            /// The id of a document.
            case document
            /// Ids of pages of the document, in the order that they are to have.
            case pages
            /// Ids of lines of a list, in the order that they are to have.
            case items
            /// Files, as parts of a form.
            case files
        }

        /// Its name.
        package let name: String
        /// What is to be filled in.
        package let kind: Kind
        /// What it is filled with at first, as text; null if that is nothing, or no text.
        @Nullable package var value: String?
        /// The ids that it is filled with at first; absent for other kinds.
        package let values: [String]?
        /// The place that it is filled with at first; absent for other kinds.
        package let location: Place?
        /// Whether the request is refused without it.
        package let required: Bool

        /// Describes a member.
        package init(
            _ name: String,
            _ kind: Kind,
            value: String? = nil,
            values: [String]? = nil,
            location: Place? = nil,
            required: Bool = true
        ) {
            self.name = name
            self.kind = kind
            _value = Nullable(wrappedValue: value)
            self.values = values
            self.location = location
            self.required = required
        }
    }

    /// A place on the map that a field is filled with.
    package struct Place: Encodable, Sendable, Equatable {
        let lat: Double
        let lon: Double
        let name: String

        /// Names a place.
        package init(latitude: Double, longitude: Double, name: String) {
            (lat, lon, self.name) = (latitude, longitude, name)
        }
    }
}

extension Action.Field: JSONWritable {
    /// Writes the members in order.
    ///
    /// - Throws: `EncodingError` for a place that JSON has no numbers for.
    package func write(to json: inout JSONWriter) throws {
        json.beginObject()
        json.member("kind", kind.rawValue)
        if let location { try json.member("location", location) }
        json.member("name", name)
        json.member("required", required)
        json.member("value", value)
        if let values { json.member("values", values) }
        json.endObject()
    }
}

extension Action.Place: JSONWritable {
    /// Writes the members in order.
    ///
    /// - Throws: `EncodingError` for a number that JSON does not have.
    package func write(to json: inout JSONWriter) throws {
        json.beginObject()
        try json.member("lat", lat)
        try json.member("lon", lon)
        json.member("name", name)
        json.endObject()
    }
}
