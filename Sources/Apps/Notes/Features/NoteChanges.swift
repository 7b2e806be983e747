import Concurrency
import Foundation
import JSONValues
import Screens
import Upstream

/// The body of a request that creates or changes a note: `{"body", "location": {"lat", "lon", "name"}}`.
struct NoteChanges: Sendable, Equatable {
    /// Largest body: a character of a note may be six bytes of JSON.
    static let maximumBodyBytes = 8 * Note.longestBody

    /// The new text; nil for no change.
    var body: String?
    /// The new place; nil for no change. `null` is the unknown place; without a name, the name is empty.
    var location: Note.Location?

    /// - Parameter isNew: whether the text is required.
    /// - Throws: ``Problem``, 422 that names every fault.
    init(_ fields: JSONFields, isNew: Bool) throws {
        var errors: [Problem.FieldError] = []
        switch fields.values["body"] {
        case nil: if isNew { errors.append(.field("/body", "required", .bodyRequired)) }
        case .string(let text): Self.check(text, "/body", &errors) { body = text }
        default: errors.append(.field("/body", "invalid", .needed))
        }
        switch fields.values["location"] {
        case nil: break
        case .null: location = .unknown
        case .object(let members): location = Note.Location(members, &errors)
        default: errors.append(.field("/location", "invalid", .mustBeLocation))
        }
        guard errors.isEmpty else { throw Problem.validation(errors) }
    }

    private static func check(
        _ text: String,
        _ pointer: String,
        _ errors: inout [Problem.FieldError],
        _ accept: () -> Void
    ) {
        if text.allSatisfy(\.isWhitespace) {
            errors.append(.field(pointer, "required", .mustNotBeEmpty))
        } else if text.utf8.count > Note.longestBody {
            errors.append(.field(pointer, "too-long", .mayHaveBytes(Note.longestBody)))
        } else if text.utf8.contains(0) {
            errors.append(.field(pointer, "invalid", .mustNotContainNull))
        } else {
            accept()
        }
    }
}

extension Note.Location {
    /// Reads the members `lat`, `lon` and `name`, which is empty if it is not given; nil if there are faults, which are
    /// added to `errors`.
    init?(_ members: JSONObject, _ errors: inout [Problem.FieldError]) {
        let before = errors.count
        let latitude = Self.degrees("lat", 90, in: members, &errors)
        let longitude = Self.degrees("lon", 180, in: members, &errors)
        let name = Self.name(in: members, &errors)
        guard errors.count == before else { return nil }
        guard let latitude, let longitude, let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
            for (field, value) in [("lat", latitude), ("lon", longitude)] where value == nil {
                errors.append(.field("/location/\(field)", "required", .needsDegrees(isLatitude: field == "lat")))
            }
            return nil
        }
        self.init(coordinate: coordinate, name: name ?? "")
    }

    private static func degrees(
        _ name: String,
        _ limit: Double,
        in members: JSONObject,
        _ errors: inout [Problem.FieldError]
    ) -> Double? {
        guard let member = members[name], member != .null else { return nil }
        if let value = member.double, (-limit...limit).contains(value) { return value }
        let detail = Text.mustBeDegrees(isLatitude: name == "lat", Int(limit))
        errors.append(.field("/location/\(name)", "invalid", detail))
        return nil
    }

    private static func name(in members: JSONObject, _ errors: inout [Problem.FieldError]) -> String? {
        switch members["name"] {
        case nil, .null: return nil
        case .string(let text) where text.utf8.contains(0) || text.unicodeScalars.count > longestName:
            errors.append(.field("/location/name", "invalid", .nameOfPlaceForm(longestName)))
        case .string(let text):
            let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
            return trimmed.isEmpty ? nil : trimmed
        default: errors.append(.field("/location/name", "invalid", .needed))
        }
        return nil
    }
}

/// Addresses of positions: from the geocoder if there is one and it responds within the patience, else the place that
/// they are in or next to.
struct NoteAddresses: Sendable {
    struct Address: Sendable {
        let text: String
        /// Holds while the position has this address; nil if that is not known.
        var changeToken: ChangeToken?
    }

    let gazetteer: Gazetteer
    let geocoder: GeocoderClient?
    var places = PlaceTable.bundled

    /// Returns the address of a position. It does not fail if the geocoder does.
    func address(of point: Coordinate) async throws -> Address {
        guard let geocoder else { return Address(text: nearestPlace(to: point), changeToken: .unlimited) }
        do {
            let (result, address) = try await geocoder.readAddress(of: point, bundledAt: gazetteer.date)
            return Address(text: address ?? nearestPlace(to: point), changeToken: result.changeToken)
        } catch is UpstreamError {
            return Address(text: nearestPlace(to: point))
        }
    }

    /// Returns the place that a position is in or next to, in the language of the response.
    func nearestPlace(to point: Coordinate, in language: Language = .current) -> String {
        guard let (place, distance, isWithin) = places.place(at: point) else { return Note.Location.unknown.name }
        if isWithin { return place.fullName[language] }
        let kilometres = max(1, Int(distance.rounded()))
        guard kilometres >= 100 else { return Text.distance(kilometres, from: place.fullName)[language] }
        let direction = place.coordinate.direction(to: point)
        return Text.distance(kilometres, direction, from: place.fullName)[language]
    }
}
