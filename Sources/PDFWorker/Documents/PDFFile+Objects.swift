import CQPDF
import Foundation

extension PDFFile {
    /// Parses an object in PDF notation.
    func object(_ notation: String) throws -> Object {
        let object = qpdf_oh_parse(handle, notation)
        try check()
        return object
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
    func keys(of dictionary: Object) -> [PDFName] {
        qpdf_oh_begin_dict_key_iter(handle, dictionary)
        var keys: [PDFName] = []
        while qpdf_oh_dict_more_keys(handle) != 0, let key = qpdf_oh_dict_next_key(handle) { keys.append(PDFName(key)) }
        return keys
    }

    /// Calls the body with the value at a key of a dictionary, which may be null.
    func with<Result>(_ key: PDFName, of dictionary: Object, _ body: (Object) throws -> Result) rethrows -> Result {
        let value = qpdf_oh_get_key(handle, dictionary, key.bytes)
        defer { release(value) }
        return try body(value)
    }

    /// Returns an attribute of a field, which those above it may have (ISO 32000-1 12.7.3.1); null if none has.
    func inherited(_ key: PDFName, of field: Object) -> Object {
        var field = field
        for _ in 0..<32 where qpdf_oh_is_dictionary(handle, field) != 0 {
            if qpdf_oh_has_key(handle, field, key.bytes) != 0 { return qpdf_oh_get_key(handle, field, key.bytes) }
            field = qpdf_oh_get_key(handle, field, "/Parent")
        }
        return qpdf_oh_new_null(handle)
    }

    /// Calls the body with each item of an array; with nothing if it is none.
    func forEachItem(of array: Object, _ body: (Object) throws -> Void) rethrows {
        guard qpdf_oh_is_array(handle, array) != 0 else { return }
        for index in 0..<qpdf_oh_get_array_n_items(handle, array) {
            let item = qpdf_oh_get_array_item(handle, array, index)
            defer { release(item) }
            try body(item)
        }
    }

    /// Returns the name at a key of a dictionary; nil if there is none.
    func name(_ key: PDFName, of dictionary: Object) -> PDFName? {
        with(key, of: dictionary) { name($0) }
    }

    /// Returns an object that is a name; nil for others.
    func name(_ object: Object) -> PDFName? {
        qpdf_oh_is_name(handle, object) != 0 ? qpdf_oh_get_name(handle, object).map { PDFName($0) } : nil
    }

    /// Whether an object may refer to others.
    func isContainer(_ object: Object) -> Bool {
        qpdf_oh_is_dictionary(handle, object) != 0 || qpdf_oh_is_stream(handle, object) != 0
            || qpdf_oh_is_array(handle, object) != 0
    }

    /// Whether an object is a reference to one that does not exist, or that libqpdf cannot read.
    func isLost(_ object: Object) -> Bool {
        qpdf_oh_get_object_id(handle, object) != 0 && qpdf_oh_is_null(handle, object) != 0
    }

    /// Returns the data of a stream; nil if libqpdf cannot undo all of its filters although it should.
    func data(of stream: Object, decodeLevel: qpdf_stream_decode_level_e) throws -> Data? {
        var isFiltered = QPDF_BOOL(0)
        var (bytes, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
        _ = qpdf_oh_get_stream_data(handle, stream, decodeLevel, &isFiltered, &bytes, &count)
        defer { free(bytes) }
        try check()
        guard decodeLevel == qpdf_dl_none || isFiltered != 0, let bytes else { return nil }
        return Data(bytes: bytes, count: count)
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
}
