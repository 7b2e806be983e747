package import HTTPTypes
package import Server

/// A kind of error that clients can distinguish, with its status and title.
///
/// The codes that every app shares are here; an app declares its own in an extension and lists them in its `problems`.
/// See "Problems" in docs/contract.md.
package struct ProblemCode: Sendable, Hashable {
    /// The code itself, such as `not-found`.
    package let rawValue: String
    package let status: HTTPResponse.Status
    /// `title` of the problem: the same for every problem of this code (RFC 9457 §3.1.3).
    package let title: Text
    /// Whether the same request may succeed later without a change.
    package let isRetryable: Bool

    package init(_ rawValue: String, _ status: HTTPResponse.Status, _ title: Text, isRetryable: Bool = false) {
        self.rawValue = rawValue
        self.status = status
        self.title = title
        self.isRetryable = isRetryable
    }
}

extension ProblemCode {
    /// The codes that are no app's own, in the order of the contract.
    package static let common: [ProblemCode] = [
        .malformedRequest, .malformedJSON, .invalidParameter, .sessionRequired, .sessionExpired, .invalidCredentials,
        .upstreamSessionExpired, .upstreamForbidden, .hostNotAllowed, .originNotAllowed, .notFound,
        .methodNotAllowed, .targetExists, .idempotencyKeyInUse, .idempotencyKeyReused, .confirmationRequired,
        .preconditionFailed, .tooLarge, .tooManyPages,
        .targetTooLong, .unsupportedMediaType, .badRange, .validationFailed, .damaged, .encrypted, .timedOut,
        .rateLimited, .headersTooLarge, .requestTimeout, .internal, .toolMissing, .upstreamBadResponse,
        .outcomeUnknown, .upstreamUnavailable, .offlineWriteRefused, .overloaded, .processingUnavailable, .notInCache,
        .upstreamStorageFull, .storageFailed, .storageFull, .quotaExceeded, .pairingRequired, .pairingRefused,
        .localOnly, .profileNotAllowed, .pairingUnavailable, .misdirectedRequest, .storeUnavailable,
    ]

    static let malformedRequest = ProblemCode(
        "malformed-request",
        .badRequest,
        Text("The request is malformed", ru: "Запрос составлен неверно")
    )
    static let malformedJSON = ProblemCode(
        "malformed-json",
        .badRequest,
        Text("The body is not JSON", ru: "Тело запроса — не JSON")
    )
    package static let invalidParameter = ProblemCode(
        "invalid-parameter",
        .badRequest,
        Text("A parameter is not acceptable", ru: "Недопустимый параметр")
    )
    static let sessionRequired = ProblemCode(
        "session-required",
        .unauthorized,
        Text("A session is required", ru: "Нужно войти")
    )
    package static let sessionExpired = ProblemCode(
        "session-expired",
        .unauthorized,
        Text("The session is not known any more", ru: "Сеанс завершён, войдите снова")
    )
    package static let invalidCredentials = ProblemCode(
        "invalid-credentials",
        .unauthorized,
        Text("The credentials are not right", ru: "Неверные данные для входа")
    )
    /// 401: the upstream does not accept its token any more.
    package static let upstreamSessionExpired = ProblemCode(
        "upstream-session-expired",
        .unauthorized,
        Text("The session with the service has ended, log in again", ru: "Сеанс в сервисе завершён, войдите снова")
    )
    /// 403: the upstream does not allow this.
    package static let upstreamForbidden = ProblemCode(
        "upstream-forbidden",
        .forbidden,
        Text("The service does not allow this", ru: "Сервис не разрешает это действие")
    )
    static let hostNotAllowed = ProblemCode(
        "host-not-allowed",
        .forbidden,
        Text("This host name is not served", ru: "Это имя сервера не обслуживается")
    )
    static let originNotAllowed = ProblemCode(
        "origin-not-allowed",
        .forbidden,
        Text("This origin may not write", ru: "С этой страницы изменения не принимаются")
    )
    /// 421: another process serves this (RFC 9110 §15.5.20).
    static let misdirectedRequest = ProblemCode(
        "misdirected-request",
        .misdirectedRequest,
        Text("Another process serves this", ru: "Это обслуживает другой процесс")
    )
    package static let notFound = ProblemCode(
        "not-found",
        .notFound,
        Text("There is nothing here", ru: "Ничего не найдено")
    )
    static let methodNotAllowed = ProblemCode(
        "method-not-allowed",
        .methodNotAllowed,
        Text("The method is not allowed here", ru: "Такое действие здесь невозможно")
    )
    package static let targetExists = ProblemCode(
        "target-exists",
        .conflict,
        Text("The target exists", ru: "Такое имя уже занято")
    )
    /// 409: another request with this key is being processed.
    static let idempotencyKeyInUse = ProblemCode(
        "idempotency-key-in-use",
        .conflict,
        Text("The first request is still being processed", ru: "Первый запрос ещё выполняется"),
        isRetryable: true
    )
    /// 422: another request had this key.
    static let idempotencyKeyReused = ProblemCode(
        "idempotency-key-reused",
        .unprocessableContent,
        Text("Another request had this key", ru: "Этот ключ уже был у другого запроса")
    )
    package static let confirmationRequired = ProblemCode(
        "confirmation-required",
        .conflict,
        Text("A confirmation is required", ru: "Требуется подтверждение")
    )
    package static let preconditionFailed = ProblemCode(
        "precondition-failed",
        .preconditionFailed,
        Text("It has changed in the meantime", ru: "Данные тем временем изменились")
    )
    package static let tooLarge = ProblemCode(
        "too-large",
        .contentTooLarge,
        Text("The body is too large", ru: "Слишком большой объём данных")
    )
    package static let tooManyPages = ProblemCode(
        "too-many-pages",
        .contentTooLarge,
        Text("There are too many pages", ru: "Слишком много страниц")
    )
    static let targetTooLong = ProblemCode(
        "target-too-long",
        .uriTooLong,
        Text("The request target is too long", ru: "Слишком длинный адрес")
    )
    package static let unsupportedMediaType = ProblemCode(
        "unsupported-media-type",
        .unsupportedMediaType,
        Text("The media type is not supported", ru: "Этот тип данных не поддерживается")
    )
    static let badRange = ProblemCode(
        "bad-range",
        .rangeNotSatisfiable,
        Text("The range cannot be satisfied", ru: "Такой части файла нет")
    )
    package static let validationFailed = ProblemCode(
        "validation-failed",
        .unprocessableContent,
        Text("Some fields are not acceptable", ru: "Некоторые поля заполнены неверно")
    )
    package static let damaged = ProblemCode(
        "damaged",
        .unprocessableContent,
        Text("A file is damaged", ru: "Файл повреждён")
    )
    package static let encrypted = ProblemCode(
        "encrypted",
        .unprocessableContent,
        Text("A file is protected by a password", ru: "Файл защищён паролем")
    )
    package static let timedOut = ProblemCode(
        "timed-out",
        .unprocessableContent,
        Text("Working on a file took longer than it may", ru: "Обработка файла заняла слишком много времени")
    )
    package static let rateLimited = ProblemCode(
        "rate-limited",
        .tooManyRequests,
        Text("Too many requests", ru: "Слишком много запросов"),
        isRetryable: true
    )
    static let headersTooLarge = ProblemCode(
        "headers-too-large",
        .requestHeaderFieldsTooLarge,
        Text("The header is too large", ru: "Слишком длинный заголовок запроса")
    )
    package static let requestTimeout = ProblemCode(
        "request-timeout",
        .requestTimeout,
        Text("The request took too long", ru: "Запрос занял слишком много времени"),
        isRetryable: true
    )
    /// 500: an internal error.
    package static let `internal` = ProblemCode(
        "internal",
        .internalServerError,
        Text("Something went wrong in Larder", ru: "Внутренняя ошибка сервера")
    )
    package static let toolMissing = ProblemCode(
        "tool-missing",
        .notImplemented,
        Text("A program that this needs is not installed", ru: "На сервере не установлена нужная программа")
    )
    /// 502: the upstream sent an unusable response.
    package static let upstreamBadResponse = ProblemCode(
        "upstream-bad-response",
        .badGateway,
        Text("The service did not respond as expected", ru: "Сервис ответил не так, как ожидалось"),
        isRetryable: true
    )
    package static let outcomeUnknown = ProblemCode(
        "outcome-unknown",
        .badGateway,
        Text("It is not known whether this was carried out", ru: "Неизвестно, выполнено ли действие")
    )
    /// 503: the upstream cannot be reached or fails.
    package static let upstreamUnavailable = ProblemCode(
        "upstream-unavailable",
        .serviceUnavailable,
        Text("The service does not work at the moment", ru: "Сервис сейчас не работает"),
        isRetryable: true
    )
    /// 503: not possible while the upstream is offline.
    package static let offlineWriteRefused = ProblemCode(
        "offline-write-refused",
        .serviceUnavailable,
        Text("This is not possible without a connection to the service", ru: "Это невозможно без связи с сервисом"),
        isRetryable: true
    )
    package static let overloaded = ProblemCode(
        "overloaded",
        .serviceUnavailable,
        Text("Larder is overloaded", ru: "Сервер перегружен"),
        isRetryable: true
    )
    package static let processingUnavailable = ProblemCode(
        "processing-unavailable",
        .serviceUnavailable,
        Text("Pictures and documents cannot be worked on now", ru: "Обработка файлов сейчас недоступна"),
        isRetryable: true
    )
    static let notInCache = ProblemCode(
        "not-in-cache",
        .gatewayTimeout,
        Text("Nothing is stored for this", ru: "Сохранённых данных нет"),
        isRetryable: true
    )
    package static let storageFailed = ProblemCode(
        "storage-failed",
        .internalServerError,
        Text("The stored data cannot be read or written", ru: "Сервер не может прочитать или записать данные"),
        isRetryable: true
    )
    package static let storageFull = ProblemCode(
        "storage-full",
        .init(code: 507),
        Text("The disk of the server is full", ru: "На диске сервера нет места")
    )
    /// 507: the account or the profile has stored as much as it may.
    static let quotaExceeded = ProblemCode(
        "quota-exceeded",
        .init(code: 507),
        Text("The quota is used up", ru: "Отведённое место закончилось")
    )
    /// 507: the upstream has no space left.
    package static let upstreamStorageFull = ProblemCode(
        "upstream-storage-full",
        .init(code: 507),
        Text("The service has no space left", ru: "На сервисе не осталось места")
    )

    static let pairingRequired = ProblemCode(
        "pairing-required",
        .unauthorized,
        Text("The device is not paired", ru: "Устройство не подключено")
    )
    /// 403: the code is not the one that pairs a device now.
    static let pairingRefused = ProblemCode(
        "pairing-refused",
        .forbidden,
        Text("The code is not accepted", ru: "Код не принят")
    )
    /// 403: only clients on the server's own machine may do this.
    static let localOnly = ProblemCode(
        "local-only",
        .forbidden,
        Text("Only clients on the server's machine may do this", ru: "Это доступно только на самом сервере")
    )
    static let profileNotAllowed = ProblemCode(
        "profile-not-allowed",
        .forbidden,
        Text("The device is for another profile", ru: "Устройство подключено для другого профиля")
    )
    static let pairingUnavailable = ProblemCode(
        "pairing-unavailable",
        .conflict,
        Text("No device can be paired", ru: "Подключить устройство нельзя")
    )

    /// The code of a request that the connection layer refuses.
    package init(_ reason: ConnectionRefusal.Reason) {
        switch reason {
        case .malformed, .clearText: self = .malformedRequest
        case .targetTooLong: self = .targetTooLong
        case .headersTooLarge: self = .headersTooLarge
        case .timedOut: self = .requestTimeout
        }
    }
}
