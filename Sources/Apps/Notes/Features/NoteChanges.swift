import Foundation
import Screens

/// The body of a request that creates or changes a note: `{"body", "location": {"lat", "lon", "name"}}`.
struct NoteChanges: Sendable, Equatable {
    /// Largest body: a character of a note may be six bytes of JSON.
    static let maximumBodyBytes = 8 * Note.longestBody

    /// The text; nil leaves it as it is.
    var body: String?
    /// The place; nil leaves it as it is. `null` is the unknown place; without a name, the name is empty.
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
        case .object(let members): location = Note.Location(members, &errors)
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
            errors.append(.field(pointer, "required", .mustNotBeEmpty(name)))
        } else if text.utf8.count > Note.longestBody {
            errors.append(.field(pointer, "too-long", .mayHaveBytes(name, Note.longestBody)))
        } else if text.utf8.contains(0) {
            errors.append(.field(pointer, "invalid", "\(name) must not contain U+0000."))
        } else {
            accept()
        }
    }
}
