import HTTPTypes
import JSONValues

/// An error of the API: a status, a code, and its text in Russian and in English. Codes and texts are taken from
/// recordings where there are any, because the service publishes no list.
struct DiskFailure: Error, Equatable {
    let status: HTTPResponse.Status
    let code: String
    /// English.
    let description: String
    /// Russian, for people.
    let message: String

    var response: UpstreamResponse {
        .json(
            status,
            ["message": .string(message), "description": .string(description), "error": .string(code)],
            type: "application/json"
        )
    }

    private init(_ status: HTTPResponse.Status, _ code: String, _ description: String, _ message: String) {
        self.status = status
        self.code = code
        self.description = description
        self.message = message
    }

    // MARK: recorded

    static let unauthorized = DiskFailure(.unauthorized, "UnauthorizedError", "Unauthorized", "Не авторизован.")
    static let notFound = DiskFailure(
        .notFound,
        "DiskNotFoundError",
        "Resource not found.",
        "Не удалось найти запрошенный ресурс."
    )
    static let operationNotFound = DiskFailure(
        .notFound,
        "DiskOperationNotFoundError",
        "Operation not found.",
        "Не удалось найти  операцию."
    )
    static let passwordRequired = DiskFailure(
        .forbidden,
        "DiskSymlinkPasswordRequiredError",
        "Password required",
        "Требуется пароль"
    )

    static func parentMissing(_ path: DiskPath) -> DiskFailure {
        DiskFailure(
            .conflict,
            "DiskPathDoesntExistsError",
            "Specified path \"\(path)\" doesn't exists.",
            "Указанного пути \"\(path)\" не существует."
        )
    }

    static func directoryExists(_ path: DiskPath) -> DiskFailure {
        DiskFailure(
            .conflict,
            "DiskPathPointsToExistentDirectoryError",
            "Specified path \"\(path)\" points to existent directory.",
            "По указанному пути \"\(path)\" уже существует папка с таким именем."
        )
    }

    // MARK: codes known to clients

    static func invalid(_ field: String, _ reason: (english: String, russian: String)) -> DiskFailure {
        DiskFailure(
            .badRequest,
            "FieldValidationError",
            "Error validating field \"\(field)\": \(reason.english)",
            "Ошибка проверки поля \"\(field)\": \(reason.russian)"
        )
    }

    static let pathFormat = DiskFailure(
        .badRequest,
        "DiskPathFormatError",
        "Invalid path format.",
        "Недопустимый формат пути."
    )
    static let accountType = DiskFailure(
        .forbidden,
        "DiskUnsupportedUserAccountTypeError",
        "User account type is not supported.",
        "Тип аккаунта пользователя не поддерживается."
    )

    static func exists(_ path: DiskPath) -> DiskFailure {
        DiskFailure(
            .conflict,
            "DiskResourceAlreadyExistsError",
            "Resource \"\(path)\" already exists.",
            "Ресурс \"\(path)\" уже существует."
        )
    }

    static let digestDiffers = DiskFailure(
        .conflict,
        "MD5DifferError",
        "MD5 of the resource differs.",
        "MD5 ресурса отличается от указанного."
    )
    static let root = DiskFailure(
        .conflict,
        "DiskPathPointsToRootError",
        "Specified path points to root.",
        "Указанный путь ведёт к корневой папке."
    )
    static let locked = DiskFailure(
        .locked,
        "DiskResourceLockedError",
        "Resource is locked by another request.",
        "Ресурс заблокирован. Возможно, над ним выполняется другая операция."
    )
    static let uploadTraffic = DiskFailure(
        .locked,
        "DiskUploadTrafficLimitExceeded",
        "Upload traffic limit exceeded.",
        "Превышен лимит трафика загрузки."
    )
    static let downloadLimit = DiskFailure(
        .tooManyRequests,
        "DiskResourceDownloadLimitExceededError",
        "Resource download limit exceeded.",
        "Превышен лимит скачиваний ресурса."
    )
    static let quota = DiskFailure(
        .insufficientStorage,
        "DiskStorageQuotaExhaustedError",
        "Insufficient storage.",
        "Недостаточно свободного места."
    )

    // MARK: documented statuses whose code is not known

    static let noRoute = DiskFailure(.notFound, "NotFoundError", "Not found.", "Не найдено.")
    static let method = DiskFailure(
        .methodNotAllowed,
        "MethodNotAllowedError",
        "Method not allowed.",
        "Метод не поддерживается."
    )
    static let forbidden = DiskFailure(
        .forbidden,
        "ForbiddenError",
        "Forbidden",
        "API недоступно. Ваши файлы занимают больше места, чем у вас есть."
    )
    static let notAcceptable = DiskFailure(
        .notAcceptable,
        "NotAcceptableError",
        "Not acceptable.",
        "Ресурс не может быть представлен в запрошенном формате."
    )
    static let gone = DiskFailure(.gone, "GoneError", "Gone.", "Ресурс больше недоступен.")
    static let readOnly = DiskFailure(
        .locked,
        "LockedError",
        "Under maintenance: files can be viewed and downloaded only.",
        "Технические работы. Сейчас можно только просматривать и скачивать файлы."
    )
    static let tooLarge = DiskFailure(
        .contentTooLarge,
        "PayloadTooLargeError",
        "File is too large.",
        "Загрузка файла недоступна. Файл слишком большой."
    )
    static let unsupportedType = DiskFailure(
        .unsupportedMediaType,
        "UnsupportedMediaTypeError",
        "Unsupported media type.",
        "Неподдерживаемый тип данных."
    )
    static let tooManyRequests = DiskFailure(
        .tooManyRequests,
        "TooManyRequestsError",
        "Too many requests.",
        "Слишком много запросов."
    )
    static let serverError = DiskFailure(
        .internalServerError,
        "InternalServerError",
        "Internal server error.",
        "Внутренняя ошибка сервера."
    )
    static let unavailable = DiskFailure(
        .serviceUnavailable,
        "ServiceUnavailableError",
        "Service unavailable.",
        "Сервис временно недоступен."
    )

    /// The failure of a 4xx status that a fault selects. A status without a known failure gets a code of the same form.
    static func refusal(_ status: HTTPResponse.Status) -> DiskFailure {
        let known = [
            pathFormat, unauthorized, forbidden, notFound, method, notAcceptable, gone, tooLarge, unsupportedType,
            locked, tooManyRequests,
        ]
        return known.first { $0.status == status }
            ?? DiskFailure(status, "Status\(status.code)Error", "Status \(status.code).", "Ошибка \(status.code).")
    }

    /// The failures that a test can select by their code.
    static let selectable = [
        unauthorized, notFound, operationNotFound, passwordRequired, pathFormat, accountType, digestDiffers, root,
        locked, uploadTraffic, readOnly, downloadLimit, quota,
        forbidden, notAcceptable, gone, tooLarge, unsupportedType, tooManyRequests, serverError, unavailable,
    ]

    static func named(_ code: String) -> DiskFailure? { selectable.first { $0.code == code } }
}

extension HTTPResponse.Status {
    /// RFC 4918 section 11.3.
    fileprivate static let locked = HTTPResponse.Status(code: 423, reasonPhrase: "Locked")
    /// RFC 4918 section 11.5.
    fileprivate static let insufficientStorage = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}

/// Encodes a failure that a test has selected as its code.
extension DiskFailure: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let code = try container.decode(String.self)
        guard let failure = Self.named(code) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "There is no failure \(code).")
        }
        self = failure
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(code)
    }
}
