import Foundation
import Screens

/// The body of a request that creates or changes a note: `{"body", "location": {"lat", "lon", "name"}}`.
struct NoteChanges: Sendable, Equatable {
    /// Largest body: a character of a note may be six bytes of JSON.
    static let maximumBodyBytes = 8 * Note.longestBody

    /// The text; nil leaves it as it is.
    var body: String?
    /// The place; nil leaves it as it is. `null` is the unknown place.
    var location: Note.Location?

    /// Reads the fields.
    ///
    /// - Parameter isNew: whether the text is required.
    /// - Throws: ``Problem``, 422 that names every fault.
    init(_ fields: JSONFields, isNew: Bool) throws {
        var errors: [Problem.FieldError] = []
        switch fields.values["body"] {
        case nil: if isNew { errors.append(.field("/body", "required", "body must have a text.")) }
        case .string(let text): Self.check(text, "/body", "body", &errors) { body = text }
        default: errors.append(.field("/body", "invalid", "body must be a string."))
        }
        switch fields.values["location"] {
        case nil: break
        case .null: location = .unknown
        case .object(let members): location = Self.location(members, &errors)
        default: errors.append(.field("/location", "invalid", "location must be an object of lat, lon and name."))
        }
        guard errors.isEmpty else { throw Problem.validation(errors) }
    }

    private static func check(
        _ text: String,
        _ pointer: String,
        _ name: String,
        _ errors: inout [Problem.FieldError],
        _ accept: () -> Void
    ) {
        if text.allSatisfy(\.isWhitespace) {
            errors.append(.field(pointer, "required", "\(name) must not be empty."))
        } else if text.utf8.count > Note.longestBody {
            errors.append(.field(pointer, "too-long", "\(name) may have \(Note.longestBody) bytes of UTF-8."))
        } else if text.utf8.contains(0) {
            errors.append(.field(pointer, "invalid", "\(name) must not hold U+0000."))
        } else {
            accept()
        }
    }

    private static func location(_ members: [String: JSONFields.Value], _ errors: inout [Problem.FieldError]) -> Note
        .Location?
    {
        let before = errors.count
        let degrees = { (name: String, limit: Double, errors: inout [Problem.FieldError]) -> Double? in
            switch members[name] {
            case .number(let value) where (-limit...limit).contains(value): return value
            case nil, .null: return nil
            default:
                errors.append(
                    .field(
                        "/location/\(name)",
                        "invalid",
                        "location.\(name) must be a number of degrees from -\(Int(limit)) to \(Int(limit))."
                    )
                )
                return nil
            }
        }
        let latitude = degrees("lat", 90, &errors)
        let longitude = degrees("lon", 180, &errors)
        var name = Note.Location.unknown.name
        switch members["name"] {
        case nil, .null: break
        case .string(let text) where text.utf8.contains(0) || text.unicodeScalars.count > Note.Location.longestName:
            errors.append(
                .field(
                    "/location/name",
                    "invalid",
                    "location.name may have \(Note.Location.longestName) characters, none of them U+0000."
                )
            )
        case .string(let text):
            let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
            if !trimmed.isEmpty { name = trimmed }
        default: errors.append(.field("/location/name", "invalid", "location.name must be a string."))
        }
        guard errors.count == before else { return nil }
        guard let latitude, let longitude, let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
            for (field, value) in [("lat", latitude), ("lon", longitude)] where value == nil {
                errors.append(
                    .field(
                        "/location/\(field)",
                        "required",
                        "location.\(field) is required: a place needs both lat and lon."
                    )
                )
            }
            return nil
        }
        return Note.Location(coordinate: coordinate, name: name)
    }
}
