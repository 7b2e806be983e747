import HTTPServer
import Screens

/// Where new pages are inserted into a document: the field `at`, the number that the first of them gets.
struct PagePlace: Sendable, Equatable {
    /// Nil for the end.
    private let number: Int?

    /// Reads the field of a JSON object.
    ///
    /// - Throws: ``Problem``, 422 if it is not a whole number from 1 on.
    init(_ fields: JSONFields) throws {
        switch fields.values["at"] {
        case nil, .null: number = nil
        case .number(let value):
            guard let whole = Int(exactly: value), whole >= 1 else { throw Self.invalid }
            number = whole
        default: throw Self.invalid
        }
    }

    /// Reads the field of a form.
    ///
    /// - Throws: ``Problem``, 422 if it is not a whole number from 1 on, or is there twice.
    init(_ form: UploadedForm) throws {
        let values = form.fields.filter { $0.name == "at" }.map(\.value)
        guard let text = values.first else {
            number = nil
            return
        }
        guard values.count == 1, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let whole = Int(text), whole >= 1
        else { throw Self.invalid }
        number = whole
    }

    /// Returns the position of the first new page in a document, from 0.
    ///
    /// - Throws: ``Problem``, 422 if it is beyond the end of the document.
    func position(in document: Document) throws -> Int {
        let last = document.pages.count + 1
        guard let number else { return last - 1 }
        guard number <= last else {
            throw Problem.validation([
                .field("/at", "invalid", "at must be from 1 to \(last), the number that the first new page gets.")
            ])
        }
        return number - 1
    }

    private static var invalid: Problem {
        .validation([
            .field("/at", "invalid", "at must be a whole number from 1 on: the number that the first new page gets.")
        ])
    }
}
