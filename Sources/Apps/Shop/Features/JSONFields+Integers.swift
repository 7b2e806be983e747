import JSONValues
import Screens

extension JSONFields {
    /// Returns an integer field; null counts as absent. Adds an error to `errors` if the field is invalid, or required
    /// and absent.
    func integer(
        _ name: String,
        in range: ClosedRange<Int>,
        required: Bool,
        _ errors: inout [Problem.FieldError]
    ) -> Int? {
        switch values[name] {
        case nil, .null:
            if required {
                errors.append(.field("/\(name)", "required", .missingInteger(name, range)))
            }
        case let value?:
            if let integer = value.int, range.contains(integer) { return integer }
            errors.append(.field("/\(name)", "invalid", .wrongInteger(name, range)))
        }
        return nil
    }

    /// Returns a list of integers.
    ///
    /// - Throws: ``Problem`` 422 that names the field or the first bad element.
    func integers(_ name: String, in range: ClosedRange<Int>) throws -> [Int] {
        guard case .array(let items) = values[name] else {
            let code = values[name] == nil ? "required" : "invalid"
            throw Problem.validation([.field("/\(name)", code, "\(name) must be a list of integers.")])
        }
        return try items.enumerated().map { index, item in
            guard let integer = item.int, range.contains(integer) else {
                let detail: Text = "\(name) must be a list of integers of at least \(range.lowerBound)."
                throw Problem.validation([.field("/\(name)/\(index)", "invalid", detail)])
            }
            return integer
        }
    }
}
