import Foundation
import Screens

extension Note.Location {
    /// Reads the members `lat`, `lon` and `name`, which is empty if it is not given; nil if there are faults, which are
    /// added to `errors`.
    init?(_ members: [String: JSONFields.Value], _ errors: inout [Problem.FieldError]) {
        let before = errors.count
        let latitude = Self.degrees("lat", 90, in: members, &errors)
        let longitude = Self.degrees("lon", 180, in: members, &errors)
        let name = Self.name(in: members, &errors)
        guard errors.count == before else { return nil }
        guard let latitude, let longitude, let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
            for (field, value) in [("lat", latitude), ("lon", longitude)] where value == nil {
                let detail: Text = "location.\(field) is required: a place needs both lat and lon."
                errors.append(.field("/location/\(field)", "required", detail))
            }
            return nil
        }
        self.init(coordinate: coordinate, name: name ?? "")
    }

    private static func degrees(
        _ name: String,
        _ limit: Double,
        in members: [String: JSONFields.Value],
        _ errors: inout [Problem.FieldError]
    ) -> Double? {
        switch members[name] {
        case .number(let value) where (-limit...limit).contains(value): return value
        case nil, .null: return nil
        default:
            let detail: Text = "location.\(name) must be a number of degrees from -\(Int(limit)) to \(Int(limit))."
            errors.append(.field("/location/\(name)", "invalid", detail))
            return nil
        }
    }

    private static func name(in members: [String: JSONFields.Value], _ errors: inout [Problem.FieldError]) -> String? {
        switch members["name"] {
        case nil, .null: return nil
        case .string(let text) where text.utf8.contains(0) || text.unicodeScalars.count > longestName:
            let detail: Text = "location.name may have \(longestName) characters, none of them U+0000."
            errors.append(.field("/location/name", "invalid", detail))
        case .string(let text):
            let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
            return trimmed.isEmpty ? nil : trimmed
        default: errors.append(.field("/location/name", "invalid", "location.name must be a string."))
        }
        return nil
    }
}
