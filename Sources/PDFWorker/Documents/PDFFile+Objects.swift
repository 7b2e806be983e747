import CQPDF
import Foundation
import MediaFormats

extension PDFFile {
    /// Parses an object in PDF notation.
    func object(_ notation: String) throws -> Object {
        let object = qpdf_oh_parse(handle, notation)
        try check()
        return object
    }

    /// Creates a stream whose bytes are written as they are.
    ///
    /// - Parameter dictionary: further entries, without `Filter`, `DecodeParms` and `Length`.
    func stream(
        _ bytes: Data,
        dictionary entries: [(String, Object)] = [],
        filter: String? = nil,
        parameters: String? = nil
    ) throws -> Object {
        let stream = qpdf_oh_new_stream(handle)
        let filter = try object(filter ?? "null")
        let parameters = try object(parameters ?? "null")
        bytes.withUnsafeBytes { buffer in
            qpdf_oh_replace_stream_data(
                handle,
                stream,
                buffer.bindMemory(to: UInt8.self).baseAddress,
                buffer.count,
                filter,
                parameters
            )
        }
        try check()
        let dictionary = qpdf_oh_get_dict(handle, stream)
        for (key, value) in entries { qpdf_oh_replace_key(handle, dictionary, key, value) }
        try check()
        return stream
    }

    /// Returns the title in the document's information dictionary; nil if there is none, or it is empty.
    func title() -> String? {
        let information = qpdf_oh_get_key(handle, qpdf_get_trailer(handle), "/Info")
        guard qpdf_oh_is_dictionary(handle, information) != 0 else { return nil }
        let title = qpdf_oh_get_key(handle, information, "/Title")
        guard qpdf_oh_is_string(handle, title) != 0, let text = qpdf_oh_get_utf8_value(handle, title) else {
            return nil
        }
        return Self.shownTitle(String(cString: text))
    }

    /// Returns a title in one line, of at most 1,000 characters; nil if nothing is left of it.
    static func shownTitle(_ text: String) -> String? {
        // The title of an imported document may have any length and any characters.
        let clean = text.unicodeScalars.prefix(1000).filter {
            $0.properties.generalCategory != .control
        }
        let trimmed = String(String.UnicodeScalarView(clean)).trimmingCharacters(in: .whitespacesAndNewlines)
        return trimmed.isEmpty ? nil : trimmed
    }

    /// Sets the title, in UTF-16 if necessary; the library's own setter damages characters that are not ASCII.
    func setTitle(_ title: String?) throws {
        let information = qpdf_oh_new_dictionary(handle)
        if let title, !title.isEmpty {
            qpdf_oh_replace_key(handle, information, "/Title", qpdf_oh_new_unicode_string(handle, title))
        }
        qpdf_oh_replace_key(handle, information, "/Producer", qpdf_oh_new_unicode_string(handle, "Larder"))
        qpdf_oh_replace_key(handle, qpdf_get_trailer(handle), "/Info", qpdf_make_indirect_object(handle, information))
        try check()
    }

    /// Returns the keys of a dictionary.
    func keys(of dictionary: Object) -> [String] {
        qpdf_oh_begin_dict_key_iter(handle, dictionary)
        var keys: [String] = []
        while qpdf_oh_dict_more_keys(handle) != 0, let key = qpdf_oh_dict_next_key(handle) {
            keys.append(String(cString: key))
        }
        return keys
    }

    /// Returns the name at a key of a dictionary, with its slash; nil if there is none.
    func name(_ key: String, of dictionary: Object) -> String? {
        let value = qpdf_oh_get_key(handle, dictionary, key)
        defer { release(value) }
        guard qpdf_oh_is_name(handle, value) != 0 else { return nil }
        return qpdf_oh_get_name(handle, value).map { String(cString: $0) }
    }

    /// Returns the numbers of an array; nil if it is not an array of this many numbers.
    func numbers(_ array: Object, count: Int32) -> [Double]? {
        guard qpdf_oh_is_array(handle, array) != 0, qpdf_oh_get_array_n_items(handle, array) == count else {
            return nil
        }
        var numbers: [Double] = []
        for index in 0..<count {
            let item = qpdf_oh_get_array_item(handle, array, index)
            guard qpdf_oh_is_number(handle, item) != 0 else { return nil }
            numbers.append(qpdf_oh_get_numeric_value(handle, item))
        }
        return numbers
    }
}

extension PDFFile {
    func array(_ items: [Object]) throws -> Object {
        let array = qpdf_oh_new_array(handle)
        for item in items { qpdf_oh_append_item(handle, array, item) }
        try check()
        return array
    }

    func entry(_ key: String, of dictionary: Object) throws -> Object {
        let value = qpdf_oh_get_key(handle, dictionary, key)
        try check()
        return value
    }

    func set(_ key: String, of dictionary: Object, to value: Object) throws {
        qpdf_oh_replace_key(handle, dictionary, key, value)
        try check()
    }
}
